/**
* @license
* Copyright 2019 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/
const e=globalThis,t=e.ShadowRoot&&(e.ShadyCSS===void 0||e.ShadyCSS.nativeShadow)&&`adoptedStyleSheets`in Document.prototype&&`replace`in CSSStyleSheet.prototype,n=Symbol(),r=/* @__PURE__ */ new WeakMap;var i=class{constructor(e,t,r){if(this._$cssResult$=!0,r!==n)throw Error("CSSResult is not constructable. Use `unsafeCSS` or `css` instead.");this.cssText=e,this.t=t}get styleSheet(){let e=this.o,n=this.t;if(t&&e===void 0){let t=n!==void 0&&n.length===1;t&&(e=r.get(n)),e===void 0&&((this.o=e=new CSSStyleSheet).replaceSync(this.cssText),t&&r.set(n,e))}return e}toString(){return this.cssText}};const a=e=>new i(typeof e==`string`?e:e+``,void 0,n),o=(n,r)=>{if(t)n.adoptedStyleSheets=r.map(e=>e instanceof CSSStyleSheet?e:e.styleSheet);else for(let t of r){let r=document.createElement(`style`),i=e.litNonce;i!==void 0&&r.setAttribute(`nonce`,i),r.textContent=t.cssText,n.appendChild(r)}},s=t?e=>e:e=>e instanceof CSSStyleSheet?(e=>{let t=``;for(let n of e.cssRules)t+=n.cssText;return a(t)})(e):e,{is:c,defineProperty:l,getOwnPropertyDescriptor:u,getOwnPropertyNames:d,getOwnPropertySymbols:f,getPrototypeOf:p}=Object,m=globalThis,h=m.trustedTypes,g=h?h.emptyScript:``,_=m.reactiveElementPolyfillSupport,v=(e,t)=>e,ee={toAttribute(e,t){
/**
* @license
* Copyright 2017 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/
switch(t){case Boolean:e=e?g:null;break;case Object:case Array:e=e==null?e:JSON.stringify(e)}return e},fromAttribute(e,t){let n=e;switch(t){case Boolean:n=e!==null;break;case Number:n=e===null?null:Number(e);break;case Object:case Array:try{n=JSON.parse(e)}catch{n=null}}return n}},te=(e,t)=>!c(e,t),y={attribute:!0,type:String,converter:ee,reflect:!1,useDefault:!1,hasChanged:te};Symbol.metadata??=Symbol(`metadata`),m.litPropertyMetadata??=/* @__PURE__ */ new WeakMap;var b=class extends HTMLElement{static addInitializer(e){this._$Ei(),(this.l??=[]).push(e)}static get observedAttributes(){return this.finalize(),this._$Eh&&[...this._$Eh.keys()]}static createProperty(e,t=y){if(t.state&&(t.attribute=!1),this._$Ei(),this.prototype.hasOwnProperty(e)&&((t=Object.create(t)).wrapped=!0),this.elementProperties.set(e,t),!t.noAccessor){let n=Symbol(),r=this.getPropertyDescriptor(e,n,t);r!==void 0&&l(this.prototype,e,r)}}static getPropertyDescriptor(e,t,n){let{get:r,set:i}=u(this.prototype,e)??{get(){return this[t]},set(e){this[t]=e}};return{get:r,set(t){let a=r?.call(this);i?.call(this,t),this.requestUpdate(e,a,n)},configurable:!0,enumerable:!0}}static getPropertyOptions(e){return this.elementProperties.get(e)??y}static _$Ei(){if(this.hasOwnProperty(v(`elementProperties`)))return;let e=p(this);e.finalize(),e.l!==void 0&&(this.l=[...e.l]),this.elementProperties=new Map(e.elementProperties)}static finalize(){if(this.hasOwnProperty(v(`finalized`)))return;if(this.finalized=!0,this._$Ei(),this.hasOwnProperty(v(`properties`))){let e=this.properties,t=[...d(e),...f(e)];for(let n of t)this.createProperty(n,e[n])}let e=this[Symbol.metadata];if(e!==null){let t=litPropertyMetadata.get(e);if(t!==void 0)for(let[e,n]of t)this.elementProperties.set(e,n)}this._$Eh=/* @__PURE__ */ new Map;for(let[e,t]of this.elementProperties){let n=this._$Eu(e,t);n!==void 0&&this._$Eh.set(n,e)}this.elementStyles=this.finalizeStyles(this.styles)}static finalizeStyles(e){let t=[];if(Array.isArray(e)){let n=new Set(e.flat(1/0).reverse());for(let e of n)t.unshift(s(e))}else e!==void 0&&t.push(s(e));return t}static _$Eu(e,t){let n=t.attribute;return!1===n?void 0:typeof n==`string`?n:typeof e==`string`?e.toLowerCase():void 0}constructor(){super(),this._$Ep=void 0,this.isUpdatePending=!1,this.hasUpdated=!1,this._$Em=null,this._$Ev()}_$Ev(){this._$ES=new Promise(e=>this.enableUpdating=e),this._$AL=/* @__PURE__ */ new Map,this._$E_(),this.requestUpdate(),this.constructor.l?.forEach(e=>e(this))}addController(e){(this._$EO??=/* @__PURE__ */ new Set).add(e),this.renderRoot!==void 0&&this.isConnected&&e.hostConnected?.()}removeController(e){this._$EO?.delete(e)}_$E_(){let e=/* @__PURE__ */ new Map,t=this.constructor.elementProperties;for(let n of t.keys())this.hasOwnProperty(n)&&(e.set(n,this[n]),delete this[n]);e.size>0&&(this._$Ep=e)}createRenderRoot(){let e=this.shadowRoot??this.attachShadow(this.constructor.shadowRootOptions);return o(e,this.constructor.elementStyles),e}connectedCallback(){this.renderRoot??=this.createRenderRoot(),this.enableUpdating(!0),this._$EO?.forEach(e=>e.hostConnected?.())}enableUpdating(e){}disconnectedCallback(){this._$EO?.forEach(e=>e.hostDisconnected?.())}attributeChangedCallback(e,t,n){this._$AK(e,n)}_$ET(e,t){let n=this.constructor.elementProperties.get(e),r=this.constructor._$Eu(e,n);if(r!==void 0&&!0===n.reflect){let i=(n.converter?.toAttribute===void 0?ee:n.converter).toAttribute(t,n.type);this._$Em=e,i==null?this.removeAttribute(r):this.setAttribute(r,i),this._$Em=null}}_$AK(e,t){let n=this.constructor,r=n._$Eh.get(e);if(r!==void 0&&this._$Em!==r){let e=n.getPropertyOptions(r),i=typeof e.converter==`function`?{fromAttribute:e.converter}:e.converter?.fromAttribute===void 0?ee:e.converter;this._$Em=r;let a=i.fromAttribute(t,e.type);this[r]=a??this._$Ej?.get(r)??a,this._$Em=null}}requestUpdate(e,t,n,r=!1,i){if(e!==void 0){let a=this.constructor;if(!1===r&&(i=this[e]),n??=a.getPropertyOptions(e),!((n.hasChanged??te)(i,t)||n.useDefault&&n.reflect&&i===this._$Ej?.get(e)&&!this.hasAttribute(a._$Eu(e,n))))return;this.C(e,t,n)}!1===this.isUpdatePending&&(this._$ES=this._$EP())}C(e,t,{useDefault:n,reflect:r,wrapped:i},a){n&&!(this._$Ej??=/* @__PURE__ */ new Map).has(e)&&(this._$Ej.set(e,a??t??this[e]),!0!==i||a!==void 0)||(this._$AL.has(e)||(this.hasUpdated||n||(t=void 0),this._$AL.set(e,t)),!0===r&&this._$Em!==e&&(this._$Eq??=/* @__PURE__ */ new Set).add(e))}async _$EP(){this.isUpdatePending=!0;try{await this._$ES}catch(e){Promise.reject(e)}let e=this.scheduleUpdate();return e!=null&&await e,!this.isUpdatePending}scheduleUpdate(){return this.performUpdate()}performUpdate(){if(!this.isUpdatePending)return;if(!this.hasUpdated){if(this.renderRoot??=this.createRenderRoot(),this._$Ep){for(let[e,t]of this._$Ep)this[e]=t;this._$Ep=void 0}let e=this.constructor.elementProperties;if(e.size>0)for(let[t,n]of e){let{wrapped:e}=n,r=this[t];!0!==e||this._$AL.has(t)||r===void 0||this.C(t,void 0,n,r)}}let e=!1,t=this._$AL;try{e=this.shouldUpdate(t),e?(this.willUpdate(t),this._$EO?.forEach(e=>e.hostUpdate?.()),this.update(t)):this._$EM()}catch(t){throw e=!1,this._$EM(),t}e&&this._$AE(t)}willUpdate(e){}_$AE(e){this._$EO?.forEach(e=>e.hostUpdated?.()),this.hasUpdated||(this.hasUpdated=!0,this.firstUpdated(e)),this.updated(e)}_$EM(){this._$AL=/* @__PURE__ */ new Map,this.isUpdatePending=!1}get updateComplete(){return this.getUpdateComplete()}getUpdateComplete(){return this._$ES}shouldUpdate(e){return!0}update(e){this._$Eq&&=this._$Eq.forEach(e=>this._$ET(e,this[e])),this._$EM()}updated(e){}firstUpdated(e){}};b.elementStyles=[],b.shadowRootOptions={mode:`open`},b[v(`elementProperties`)]=/* @__PURE__ */ new Map,b[v(`finalized`)]=/* @__PURE__ */ new Map,_?.({ReactiveElement:b}),(m.reactiveElementVersions??=[]).push(`2.1.2`);
/**
* @license
* Copyright 2017 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/
const x=globalThis,ne=e=>e,re=x.trustedTypes,ie=re?re.createPolicy(`lit-html`,{createHTML:e=>e}):void 0,ae=`$lit$`,S=`lit$${Math.random().toFixed(9).slice(2)}$`,oe=`?`+S,se=`<${oe}>`,C=document,ce=()=>C.createComment(``),le=e=>e===null||typeof e!=`object`&&typeof e!=`function`,ue=Array.isArray,de=e=>ue(e)||typeof e?.[Symbol.iterator]==`function`,fe=`[ 	
\f\r]`,pe=/<(?:(!--|\/[^a-zA-Z])|(\/?[a-zA-Z][^>\s]*)|(\/?$))/g,me=/-->/g,he=/>/g,w=RegExp(`>|${fe}(?:([^\\s"'>=/]+)(${fe}*=${fe}*(?:[^ \t\n\f\r"'\`<>=]|("|')|))|$)`,`g`),ge=/'/g,_e=/"/g,ve=/^(?:script|style|textarea|title)$/i,T=(e=>(t,...n)=>({_$litType$:e,strings:t,values:n}))(1),E=Symbol.for(`lit-noChange`),D=Symbol.for(`lit-nothing`),ye=/* @__PURE__ */ new WeakMap,O=C.createTreeWalker(C,129);function be(e,t){if(!ue(e)||!e.hasOwnProperty(`raw`))throw Error(`invalid template strings array`);return ie===void 0?t:ie.createHTML(t)}const xe=(e,t)=>{let n=e.length-1,r=[],i,a=t===2?`<svg>`:t===3?`<math>`:``,o=pe;for(let t=0;t<n;t++){let n=e[t],s,c,l=-1,u=0;for(;u<n.length&&(o.lastIndex=u,c=o.exec(n),c!==null);)u=o.lastIndex,o===pe?c[1]===`!--`?o=me:c[1]===void 0?c[2]===void 0?c[3]!==void 0&&(o=w):(ve.test(c[2])&&(i=RegExp(`</`+c[2],`g`)),o=w):o=he:o===w?c[0]===`>`?(o=i??pe,l=-1):c[1]===void 0?l=-2:(l=o.lastIndex-c[2].length,s=c[1],o=c[3]===void 0?w:c[3]===`"`?_e:ge):o===_e||o===ge?o=w:o===me||o===he?o=pe:(o=w,i=void 0);let d=o===w&&e[t+1].startsWith(`/>`)?` `:``;a+=o===pe?n+se:l>=0?(r.push(s),n.slice(0,l)+ae+n.slice(l)+S+d):n+S+(l===-2?t:d)}return[be(e,a+(e[n]||`<?>`)+(t===2?`</svg>`:t===3?`</math>`:``)),r]};var Se=class e{constructor({strings:t,_$litType$:n},r){let i;this.parts=[];let a=0,o=0,s=t.length-1,c=this.parts,[l,u]=xe(t,n);if(this.el=e.createElement(l,r),O.currentNode=this.el.content,n===2||n===3){let e=this.el.content.firstChild;e.replaceWith(...e.childNodes)}for(;(i=O.nextNode())!==null&&c.length<s;){if(i.nodeType===1){if(i.hasAttributes())for(let e of i.getAttributeNames())if(e.endsWith(ae)){let t=u[o++],n=i.getAttribute(e).split(S),r=/([.?@])?(.*)/.exec(t);c.push({type:1,index:a,name:r[2],strings:n,ctor:r[1]===`.`?Ee:r[1]===`?`?De:r[1]===`@`?Oe:Te}),i.removeAttribute(e)}else e.startsWith(S)&&(c.push({type:6,index:a}),i.removeAttribute(e));if(ve.test(i.tagName)){let e=i.textContent.split(S),t=e.length-1;if(t>0){i.textContent=re?re.emptyScript:``;for(let n=0;n<t;n++)i.append(e[n],ce()),O.nextNode(),c.push({type:2,index:++a});i.append(e[t],ce())}}}else if(i.nodeType===8){if(i.data===oe)c.push({type:2,index:a});else{let e=-1;for(;(e=i.data.indexOf(S,e+1))!==-1;)c.push({type:7,index:a}),e+=S.length-1}}a++}}static createElement(e,t){let n=C.createElement(`template`);return n.innerHTML=e,n}};function k(e,t,n=e,r){if(t===E)return t;let i=r===void 0?n._$Cl:n._$Co?.[r],a=le(t)?void 0:t._$litDirective$;return i?.constructor!==a&&(i?._$AO?.(!1),a===void 0?i=void 0:(i=new a(e),i._$AT(e,n,r)),r===void 0?n._$Cl=i:(n._$Co??=[])[r]=i),i!==void 0&&(t=k(e,i._$AS(e,t.values),i,r)),t}var Ce=class{constructor(e,t){this._$AV=[],this._$AN=void 0,this._$AD=e,this._$AM=t}get parentNode(){return this._$AM.parentNode}get _$AU(){return this._$AM._$AU}u(e){let{el:{content:t},parts:n}=this._$AD,r=(e?.creationScope??C).importNode(t,!0);O.currentNode=r;let i=O.nextNode(),a=0,o=0,s=n[0];for(;s!==void 0;){if(a===s.index){let t;s.type===2?t=new we(i,i.nextSibling,this,e):s.type===1?t=new s.ctor(i,s.name,s.strings,this,e):s.type===6&&(t=new ke(i,this,e)),this._$AV.push(t),s=n[++o]}a!==s?.index&&(i=O.nextNode(),a++)}return O.currentNode=C,r}p(e){let t=0;for(let n of this._$AV)n!==void 0&&(n.strings===void 0?n._$AI(e[t]):(n._$AI(e,n,t),t+=n.strings.length-2)),t++}},we=class e{get _$AU(){return this._$AM?._$AU??this._$Cv}constructor(e,t,n,r){this.type=2,this._$AH=D,this._$AN=void 0,this._$AA=e,this._$AB=t,this._$AM=n,this.options=r,this._$Cv=r?.isConnected??!0}get parentNode(){let e=this._$AA.parentNode,t=this._$AM;return t!==void 0&&e?.nodeType===11&&(e=t.parentNode),e}get startNode(){return this._$AA}get endNode(){return this._$AB}_$AI(e,t=this){e=k(this,e,t),le(e)?e===D||e==null||e===``?(this._$AH!==D&&this._$AR(),this._$AH=D):e!==this._$AH&&e!==E&&this._(e):e._$litType$===void 0?e.nodeType===void 0?de(e)?this.k(e):this._(e):this.T(e):this.$(e)}O(e){return this._$AA.parentNode.insertBefore(e,this._$AB)}T(e){this._$AH!==e&&(this._$AR(),this._$AH=this.O(e))}_(e){this._$AH!==D&&le(this._$AH)?this._$AA.nextSibling.data=e:this.T(C.createTextNode(e)),this._$AH=e}$(e){let{values:t,_$litType$:n}=e,r=typeof n==`number`?this._$AC(e):(n.el===void 0&&(n.el=Se.createElement(be(n.h,n.h[0]),this.options)),n);if(this._$AH?._$AD===r)this._$AH.p(t);else{let e=new Ce(r,this),n=e.u(this.options);e.p(t),this.T(n),this._$AH=e}}_$AC(e){let t=ye.get(e.strings);return t===void 0&&ye.set(e.strings,t=new Se(e)),t}k(t){ue(this._$AH)||(this._$AH=[],this._$AR());let n=this._$AH,r,i=0;for(let a of t)i===n.length?n.push(r=new e(this.O(ce()),this.O(ce()),this,this.options)):r=n[i],r._$AI(a),i++;i<n.length&&(this._$AR(r&&r._$AB.nextSibling,i),n.length=i)}_$AR(e=this._$AA.nextSibling,t){for(this._$AP?.(!1,!0,t);e!==this._$AB;){let t=ne(e).nextSibling;ne(e).remove(),e=t}}setConnected(e){this._$AM===void 0&&(this._$Cv=e,this._$AP?.(e))}},Te=class{get tagName(){return this.element.tagName}get _$AU(){return this._$AM._$AU}constructor(e,t,n,r,i){this.type=1,this._$AH=D,this._$AN=void 0,this.element=e,this.name=t,this._$AM=r,this.options=i,n.length>2||n[0]!==``||n[1]!==``?(this._$AH=Array(n.length-1).fill(/* @__PURE__ */ new String),this.strings=n):this._$AH=D}_$AI(e,t=this,n,r){let i=this.strings,a=!1;if(i===void 0)e=k(this,e,t,0),a=!le(e)||e!==this._$AH&&e!==E,a&&(this._$AH=e);else{let r=e,o,s;for(e=i[0],o=0;o<i.length-1;o++)s=k(this,r[n+o],t,o),s===E&&(s=this._$AH[o]),a||=!le(s)||s!==this._$AH[o],s===D?e=D:e!==D&&(e+=(s??``)+i[o+1]),this._$AH[o]=s}a&&!r&&this.j(e)}j(e){e===D?this.element.removeAttribute(this.name):this.element.setAttribute(this.name,e??``)}},Ee=class extends Te{constructor(){super(...arguments),this.type=3}j(e){this.element[this.name]=e===D?void 0:e}},De=class extends Te{constructor(){super(...arguments),this.type=4}j(e){this.element.toggleAttribute(this.name,!!e&&e!==D)}},Oe=class extends Te{constructor(e,t,n,r,i){super(e,t,n,r,i),this.type=5}_$AI(e,t=this){if((e=k(this,e,t,0)??D)===E)return;let n=this._$AH,r=e===D&&n!==D||e.capture!==n.capture||e.once!==n.once||e.passive!==n.passive,i=e!==D&&(n===D||r);r&&this.element.removeEventListener(this.name,this,n),i&&this.element.addEventListener(this.name,this,e),this._$AH=e}handleEvent(e){typeof this._$AH==`function`?this._$AH.call(this.options?.host??this.element,e):this._$AH.handleEvent(e)}},ke=class{constructor(e,t,n){this.element=e,this.type=6,this._$AN=void 0,this._$AM=t,this.options=n}get _$AU(){return this._$AM._$AU}_$AI(e){k(this,e)}};const Ae={M:ae,P:S,A:oe,C:1,L:xe,R:Ce,D:de,V:k,I:we,H:Te,N:De,U:Oe,B:Ee,F:ke},je=x.litHtmlPolyfillSupport;je?.(Se,we),(x.litHtmlVersions??=[]).push(`3.3.3`);const Me=(e,t,n)=>{let r=n?.renderBefore??t,i=r._$litPart$;if(i===void 0){let e=n?.renderBefore??null;r._$litPart$=i=new we(t.insertBefore(ce(),e),e,void 0,n??{})}return i._$AI(e),i},Ne=globalThis
/**
* @license
* Copyright 2017 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/
;var Pe=class extends b{constructor(){super(...arguments),this.renderOptions={host:this},this._$Do=void 0}createRenderRoot(){let e=super.createRenderRoot();return this.renderOptions.renderBefore??=e.firstChild,e}update(e){let t=this.render();this.hasUpdated||(this.renderOptions.isConnected=this.isConnected),super.update(e),this._$Do=Me(t,this.renderRoot,this.renderOptions)}connectedCallback(){super.connectedCallback(),this._$Do?.setConnected(!0)}disconnectedCallback(){super.disconnectedCallback(),this._$Do?.setConnected(!1)}render(){return E}};Pe._$litElement$=!0,Pe.finalized=!0,Ne.litElementHydrateSupport?.({LitElement:Pe});const Fe=Ne.litElementPolyfillSupport;Fe?.({LitElement:Pe}),(Ne.litElementVersions??=[]).push(`4.2.2`);
/**
* @license
* Copyright 2017 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/
const A={ATTRIBUTE:1,CHILD:2,PROPERTY:3,BOOLEAN_ATTRIBUTE:4,EVENT:5,ELEMENT:6},Ie=e=>(...t)=>({_$litDirective$:e,values:t});var Le=class{constructor(e){}get _$AU(){return this._$AM._$AU}_$AT(e,t,n){this._$Ct=e,this._$AM=t,this._$Ci=n}_$AS(e,t){return this.update(e,t)}update(e,t){return this.render(...t)}};
/**
* @license
* Copyright 2020 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/const{I:Re}=Ae,ze=e=>e,Be=e=>e.strings===void 0,Ve=()=>document.createComment(``),He=(e,t,n)=>{let r=e._$AA.parentNode,i=t===void 0?e._$AB:t._$AA;if(n===void 0){let t=r.insertBefore(Ve(),i),a=r.insertBefore(Ve(),i);n=new Re(t,a,e,e.options)}else{let t=n._$AB.nextSibling,a=n._$AM,o=a!==e;if(o){let t;n._$AQ?.(e),n._$AM=e,n._$AP!==void 0&&(t=e._$AU)!==a._$AU&&n._$AP(t)}if(t!==i||o){let e=n._$AA;for(;e!==t;){let t=ze(e).nextSibling;ze(r).insertBefore(e,i),e=t}}}return n},j=(e,t,n=e)=>(e._$AI(t,n),e),Ue={},We=(e,t=Ue)=>e._$AH=t,Ge=e=>e._$AH,Ke=e=>{e._$AR(),e._$AA.remove()},qe=Ie(class extends Le{constructor(){
/**
* @license
* Copyright 2021 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/
super(...arguments),this.key=D}render(e,t){return this.key=e,t}update(e,[t,n]){return t!==this.key&&(We(e),this.key=t),n}});var M=class extends Pe{paintGapMs=0;#e=-1/0;createRenderRoot(){return this}async scheduleUpdate(){let e=this.#e+this.paintGapMs-performance.now();this.hasUpdated&&e>0&&await new Promise(t=>setTimeout(t,e)),this.hasUpdated&&await new Promise(requestAnimationFrame),this.#e=performance.now(),await super.scheduleUpdate()}},N=class extends M{static properties={context:{attribute:!1},route:{attribute:!1}};onKey(e){return!1}};const Je=new URL(`../`,import.meta.url),Ye=new URL(`../`,Je);var P=class extends Error{status;code;errors;constructor(e,t,n,r=[]){super(n),this.status=e,this.code=t,this.errors=r}};function Xe(e,t){async function n(n,{method:r=`GET`,body:i,headers:a,signal:o}){let s=await fetch(new URL(n.slice(1),Ye),{method:r,headers:{...a,...e!==null&&{authorization:`Bearer ${e}`},...i!==void 0&&{"content-type":`application/json`}},body:i===void 0?null:JSON.stringify(i),cache:`no-store`,signal:AbortSignal.any([AbortSignal.timeout(3e4),...o===void 0?[]:[o]])}).catch(e=>{throw o?.throwIfAborted(),new P(0,`unreachable`,`Bridge does not respond: ${e instanceof Error?e.message:String(e)}`)});if(s.ok)return s;let c=await Ze(s);throw c.status===401&&t(),c}async function r(e,t={}){let r=await n(e,t);return r.status===204?null:await r.json()}return{call:r,list(e,t,n={}){let i=Object.entries(t).flatMap(([e,t])=>t===void 0||t===``?[]:[[e,String(t)]]);return r(`${e}?${new URLSearchParams(i)}`,n)},download:async e=>(await n(e,{})).blob()}}async function Ze(e){let t=await e.text().catch(()=>``);try{let{code:n,detail:r,errors:i}=JSON.parse(t);return new P(e.status,n,r,i)}catch{return new P(e.status,`unexpected_answer`,`HTTP ${e.status}: ${t.slice(0,200)}`)}}const F=1e3,Qe=60*F,$e=60*Qe,et=24*$e;function I(e){return e<F?`${Math.max(0,Math.round(e))} ms`:e<10*F?`${(e/F).toFixed(1)} s`:e<Qe?`${Math.round(e/F)} s`:e<$e?tt(Math.round(e/F),60,`min`,`s`):e<et?tt(Math.round(e/Qe),60,`h`,`min`):tt(Math.round(e/$e),24,`d`,`h`)}function tt(e,t,n,r){let i=e%t;return i===0?`${Math.floor(e/t)} ${n}`:`${Math.floor(e/t)} ${n} ${i} ${r}`}function nt(e,t){if(e===null)return``;let n=t-Date.parse(e);return n<F?`now`:n<Qe?`${Math.floor(n/F)} s`:n<$e?`${Math.floor(n/Qe)} min`:n<et?`${Math.floor(n/$e)} h`:`${Math.floor(n/et)} d`}function L(e,t){let n=new Date(e),r=n.toLocaleTimeString([],{hour:`2-digit`,minute:`2-digit`,second:`2-digit`});return n.toDateString()===new Date(t).toDateString()?r:`${n.toLocaleDateString()} ${r}`}const rt=1e-4;function it(e){let t=new Date(e);return Number.isNaN(t.getTime())?``:(/* @__PURE__ */ new Date(t.getTime()-t.getTimezoneOffset()*6e4)).toISOString().slice(0,16)}const at=e=>e===``?``:new Date(e).toISOString();function ot(e){return e==null?`?`:e===0||e>=.1?`$${e.toFixed(2)}`:e<rt?`<$${rt}`:`$${e.toPrecision(2)}`}function st(e){if(e==null)return`?`;if(e<1e4)return String(e);let[t,n]=e<1e6?[1e3,`k`]:[1e6,`M`];return`${Number((e/t).toFixed(1))} ${n}`}function ct(e){if(e<1024)return`${e} B`;let[t,n]=e<1024**2?[1024,`KiB`]:e<1024**3?[1024**2,`MiB`]:[1024**3,`GiB`];return`${Number((e/t).toFixed(1))} ${n}`}function R(e){return e.replaceAll(lt,e=>{let t=e.codePointAt(0)??0;return t<32?String.fromCodePoint(9216+t):`⟨U+${t.toString(16).toUpperCase().padStart(4,`0`)}⟩`})}const lt=/(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;function ut(e){return typeof e==`string`?e:JSON.stringify(e,null,2)??``}function dt(e,t=120){let n=e.slice(0,4*t).replaceAll(/\s+/g,` `).trim();return n.length>t?`${n.slice(0,t)}…`:n}const ft={queued:{label:`queued`,sign:`◌`},running:{label:`running`,sign:`▶`},approval:{label:`needs approval`,sign:`!`},silent:{label:`silent`,sign:`…`},completed:{label:`completed`,sign:`✓`},failed:{label:`failed`,sign:`✕`},cancelled:{label:`canceled`,sign:`⊘`}};function z(e,t){if(e.state!==`running`)return e.state;if(e.waitingOn===`approval`)return`approval`;let n=Math.max(ht(e.startedAt),ht(e.lastProgressAt));return e.waitingOn===`runtime`||n>0&&t-n>3e4?`silent`:`running`}const pt={slot:`waits for a free slot of the adapter`,session:`waits for the end of the task that uses its resume token`,quota:`waits, because the tenant or the agent has its maximum of running tasks`,node:`waits for a running node that has the adapter, or for the node of the agent`,tag:`waits for a running node with the tags of the request`},mt=e=>e.queuedBecause===null?``:pt[e.queuedBecause]??`waits: ${e.queuedBecause}`,B=({state:e})=>e!==`queued`&&e!==`running`,ht=e=>e===null?0:Date.parse(e);function V(e){let{label:t,sign:n}=ft[e];return H(e,n,t)}const H=(e,t,n)=>T`<span class="badge ${e}"><span aria-hidden="true">${t}</span> ${n}</span>`,gt={pending:`…`,delivered:`✓`,dead:`✕`},_t=e=>e===null?D:H(`callback-${e.state}`,gt[e.state],e.state),vt={healthy:`✓`,degraded:`!`,offline:`✕`},yt=e=>H(`health-${e}`,vt[e],e),U=(e,t)=>e===null?D:T`<time datetime=${e} title=${L(e,t)}>${nt(e,t)}</time>`,W=e=>e==null?D:T`<p class="note error" role="alert">${e.message}</p>`;function bt(e,t=`Copy`){return T`<button @click=${n=>{let r=n.currentTarget,i=e=>{r.textContent=e,setTimeout(()=>{r.textContent=t},2e3)};navigator.clipboard===void 0?i(`Needs HTTPS`):navigator.clipboard.writeText(e).then(()=>i(`Copied`),()=>i(`Not permitted`))}} .textContent=${t}></button>`}const xt=[`overview`,`tasks`,`task`,`new`,`approvals`,`callbacks`,`webhooks`,`adapters`,`usage`,`missing`];function St(e){let{pathname:t,searchParams:n}=new URL(e,`http://console/`),[r=``,i=``,...a]=t.split(`/`).filter(e=>e!==``);return{page:Ct(r,i,a.length>0),id:wt(i),query:n}}function Ct(e,t,n){return n?`missing`:e===``?`overview`:e===`tasks`?t===``?`tasks`:`task`:t===``&&e!==`overview`&&e!==`task`&&xt.includes(e)?e:`missing`}function wt(e){try{return decodeURIComponent(e)}catch{return e}}const G=e=>new URL(e,Je).href,K=e=>G(`tasks/${encodeURIComponent(e)}`),Tt=()=>St(location.href.slice(Je.href.length).split(`#`,1)[0]??``);function Et(e,{replace:t=!1}={}){t?history.replaceState(null,``,e):history.pushState(null,``,e),dispatchEvent(new PopStateEvent(`popstate`))}function Dt(e){if(e.defaultPrevented||e.button!==0||e.metaKey||e.ctrlKey||e.shiftKey||e.altKey)return null;let t=e.composedPath().find(e=>e instanceof HTMLAnchorElement);return t===void 0||t.target!==``||t.hasAttribute(`download`)?null:t.href.startsWith(Je.href)?t.href:null}var Ot=class extends N{#e=()=>{};#t=null;#n=null;connectedCallback(){super.connectedCallback(),this.#e=this.context.attention.subscribe(()=>this.requestUpdate())}disconnectedCallback(){super.disconnectedCallback(),this.#e()}async#r(e){this.#t=e,this.#n=null,this.requestUpdate();let{api:t,attention:n}=this.context;try{await t.call(`/api/v2/adapters/${encodeURIComponent(e)}/check`,{method:`POST`})}catch(e){this.#n=e instanceof P?e:null}this.#t=null,n.refresh(),this.requestUpdate()}render(){let{adapters:e,error:t,isLoaded:n}=this.context.attention.state,r=Date.now();return T`
      <h1>Adapters</h1>
      ${W(t??this.#n)} ${n?D:T`<p role="status">Loading …</p>`}
      ${e.map(e=>kt(e,r,this.#i(e)))}
      <p class="hint">
        <code>BRIDGE_ADAPTERS</code> lists the adapters. Bridge logs at its start which other installed programs it could run.
      </p>
    `}#i({provider:e}){if(!this.context.identity.scopes.includes(`manage`))return D;let t=this.#t===e?`Checking …`:`Check now`;return T`<button ?disabled=${this.#t!==null} @click=${()=>this.#r(e)} aria-label="${t}: ${e}">
      ${t}
    </button>`}};function kt({provider:e,health:t,capabilities:n,running:r,queued:i,maxConcurrent:a,nodes:o},s,c){let{outputStrategies:l=[],inputs:u=[],...d}=n??{},f=Object.entries(d).filter(([,e])=>e===!0);return T`<section class="adapter" aria-label=${e}>
    <h2>${e} ${yt(t.status)}</h2>
    <p class="detail">
      ${[t.connection,t.version].map(e=>e===null?D:`${e} · `)}
      ${t.checkedAt===null?`not checked yet`:T`checked ${U(t.checkedAt,s)} ago`} ${c}
    </p>
    ${t.detail===null?D:T`<p class="note ${t.status===`healthy`?`info`:`warning`}">${R(t.detail)}</p>`}
    <p>
      <a href=${G(`tasks?provider=${encodeURIComponent(e)}&state=running`)}>${r} running</a> of ${a},
      <a href=${G(`tasks?provider=${encodeURIComponent(e)}&state=queued`)}>${i} queued</a>
      ${o.length>1?T`· nodes: ${o.join(`, `)}`:D}
    </p>
    ${t.preflight.length===0?D:T`<ul class="steps">
            ${t.preflight.map(({step:e,ok:t,detail:n})=>T`<li>
                ${t?H(`completed`,`✓`,e):H(`failed`,`✕`,e)} ${R(n)} ${t?D:At(n)}
              </li>`)}
          </ul>`}
    ${f.length===0?D:T`<p class="hint">
            ${f.map(([e])=>e).join(`, `)}; output: ${l.join(`, `)}${u.length===0?``:`; input: ${u.join(`, `)}`}
          </p>`}
  </section>`}const At=e=>[...e.matchAll(/\bRun (?:`([^`]+)`|((?:npm|npx|apt-get) [^,`]+?))(?=[,`]|\.(?:\s|$))/g)].map(([,e=``,t=``])=>bt(e+t,`Copy the command`));customElements.define(`bridge-adapters`,Ot);
/**
* @license
* Copyright 2017 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/
const jt=(e,t,n)=>{let r=/* @__PURE__ */ new Map;for(let i=t;i<=n;i++)r.set(e[i],i);return r},q=Ie(class extends Le{constructor(e){if(super(e),e.type!==A.CHILD)throw Error(`repeat() can only be used in text expressions`)}dt(e,t,n){let r;n===void 0?n=t:t!==void 0&&(r=t);let i=[],a=[],o=0;for(let t of e)i[o]=r?r(t,o):o,a[o]=n(t,o),o++;return{values:a,keys:i}}render(e,t,n){return this.dt(e,t,n).values}update(e,[t,n,r]){let i=Ge(e),{values:a,keys:o}=this.dt(t,n,r);if(!Array.isArray(i))return this.ut=o,a;let s=this.ut??=[],c=[],l,u,d=0,f=i.length-1,p=0,m=a.length-1;for(;d<=f&&p<=m;)if(i[d]===null)d++;else if(i[f]===null)f--;else if(s[d]===o[p])c[p]=j(i[d],a[p]),d++,p++;else if(s[f]===o[m])c[m]=j(i[f],a[m]),f--,m--;else if(s[d]===o[m])c[m]=j(i[d],a[m]),He(e,c[m+1],i[d]),d++,m--;else if(s[f]===o[p])c[p]=j(i[f],a[p]),He(e,i[d],i[f]),f--,p++;else if(l===void 0&&(l=jt(o,p,m),u=jt(s,d,f)),l.has(s[d])){if(l.has(s[f])){let t=u.get(o[p]),n=t===void 0?null:i[t];if(n===null){let t=He(e,i[d]);j(t,a[p]),c[p]=t}else c[p]=j(n,a[p]),He(e,i[d],n),i[t]=null;p++}else Ke(i[f]),f--}else Ke(i[d]),d++;for(;p<=m;){let t=He(e,c[m+1]);j(t,a[p]),c[p++]=t}for(;d<=f;){let e=i[d++];e!==null&&Ke(e)}return this.ut=o,We(e,c),E}}),Mt=5e3;function J(e,t,{intervalMs:n=()=>Mt,onValue:r}={}){let i={value:void 0,error:null},a=null,o,s=!1,c=!1;async function l(){if(a===null)return;if(s){c=!0;return}let{signal:l}=a;clearTimeout(o),s=!0,c=!1;try{let e=await t(l);if(l.aborted)return;i.value=e,i.error=null,r?.(e)}catch(e){if(l.aborted)return;i.error=e instanceof P?e:new P(0,`unexpected`,String(e))}finally{s=!1,l.aborted||(e.requestUpdate(),u(c?0:n()))}}function u(e){clearTimeout(o),document.hidden||(o=setTimeout(()=>void l(),e))}let d=()=>{document.hidden||u(0)};return e.addController({hostConnected(){a=new AbortController,s=!1,document.addEventListener(`visibilitychange`,d),e.updateComplete.then(()=>l())},hostDisconnected(){a?.abort(),a=null,clearTimeout(o),document.removeEventListener(`visibilitychange`,d)}}),{get value(){return i.value},get error(){return i.error},refresh:()=>void l()}}var Nt=class extends M{static properties={approvalId:{attribute:!1},context:{attribute:!1}};#e=null;#t=``;#n=null;async decide(e){if(this.#e!==null||this.#t!==``)return;this.#e=e,this.#n=null,this.requestUpdate();let{api:t,attention:n}=this.context,r=this.querySelector(`input`)?.value.trim()??``,i=`/api/v2/approvals/${encodeURIComponent(this.approvalId)}`;try{let n={decision:e,...r!==``&&{reason:r}};this.#t=Pt(await t.call(i,{method:`POST`,body:n}))}catch(e){e instanceof P&&e.code===`already_decided`?this.#t=await this.#r():this.#n=e instanceof P?e:new P(0,`unexpected`,String(e))}this.#e=null,n.refresh(),this.requestUpdate()}async#r(){let{data:e}=await this.context.api.list(`/api/v2/approvals`,{limit:200}).catch(()=>({data:[]})),t=e.find(({approvalId:e})=>e===this.approvalId);return t===void 0||t.state===`pending`?`Already decided.`:`Already decided: ${Pt(t)}`}render(){if(this.#t!==``)return T`<p class="note info" role="status">${this.#t}</p>`;if(!this.context.identity.scopes.includes(`approve`))return T`<p class="hint">Your token cannot decide approvals.</p>`;let e=this.#e!==null;return T`
      <div class="decision">
        <input aria-label="Reason" placeholder="Reason (optional)" maxlength="2000" autocomplete="off" />
        <button class="primary" ?disabled=${e} @click=${()=>this.decide(`approve`)}>Approve</button>
        <button class="danger" ?disabled=${e} @click=${()=>this.decide(`reject`)}>Reject</button>
        ${e?T`<span role="status">Sending …</span>`:D}
      </div>
      ${W(this.#n)}
    `}};customElements.define(`bridge-decision`,Nt);const Pt=({state:e,decidedBy:t,reason:n})=>`${e} by ${t??`?`}${n===null||n===``?``:`: ${n}`}`;function Ft(e,t){let n=document.createElement(`a`);n.href=URL.createObjectURL(e),n.download=t,n.click(),URL.revokeObjectURL(n.href)}var It=class extends M{static properties={value:{attribute:!1},showsEnd:{attribute:!1}};#e=``;#t=2e4;willUpdate(e){e.has(`value`)&&(this.#e=ut(this.value))}render(){let e=this.#e.length-this.#t,t=this.showsEnd?this.#e.slice(-this.#t):this.#e.slice(0,this.#t),n=T`<pre tabindex="0">${R(t)}</pre>`;if(e<=0)return n;let r=T`<p class="more">
      <button @click=${this.#n}>Show more (${ct(e)} left)</button>
      <button @click=${this.#r}>Save the whole text</button>
    </p>`;return this.showsEnd?T`${r}${n}`:T`${n}${r}`}#n(){this.#t+=5e4,this.requestUpdate()}#r(){Ft(new Blob([this.#e],{type:`text/plain;charset=utf-8`}),`text.txt`)}};customElements.define(`bridge-long-text`,It);const Y=(e,{showsEnd:t=!1}={})=>T`<bridge-long-text .value=${e} .showsEnd=${t}></bridge-long-text>`;function Lt(e){if(typeof e!=`object`||!e||Array.isArray(e))return Y(e);let t=Object.entries(e);return t.length===0?T`<p class="hint">No input.</p>`:T`<dl class="input-fields">
    ${t.map(([e,t])=>T`<div><dt>${R(e)}</dt><dd>${Y(t)}</dd></div>`)}
  </dl>`}function Rt(){let e=null,t=null;return{update(n,r){let i=r.length;document.title=i===0?`${n} · Bridge`:`(${i}) ${n} · Bridge`;let a=Ht(i);a!==t&&document.querySelector(`link[rel=icon]`)?.setAttribute(`href`,a),t=a;let o=r.filter(({approvalId:t})=>e?.has(t)===!1);e=new Set(r.map(({approvalId:e})=>e)),o.length>0&&zt()&&Vt(o)},reset(){e=null}}}const zt=()=>`Notification`in globalThis&&Notification.permission===`granted`,Bt=()=>`Notification`in globalThis&&isSecureContext&&Notification.permission==="default";function Vt(e){let[t]=e,n=e.length===1?`${t?.agentId} wants to call ${t?.toolName}.`:`${e.length} tool calls wait.`,r=new Notification(`Bridge: approval needed`,{body:n,tag:`bridge-approval`});r.onclick=()=>{focus(),r.close()}}function Ht(e){return`data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="M2 22h28M5 22a11 11 0 0 1 22 0M10 22v-8m6 8V11m6 11v-8" fill="none" stroke="#2563eb" stroke-width="2.5"/>${e===0?``:`<circle cx="24" cy="8" r="8" fill="#c2410c"/>`}</svg>`)}`}
/**
* @license
* Copyright 2018 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/
const Ut={},Wt=Ie(class extends Le{constructor(){super(...arguments),this.ot=Ut}render(e,t){return t()}update(e,[t,n]){if(Array.isArray(t)){if(Array.isArray(this.ot)&&this.ot.length===t.length&&t.every((e,t)=>e===this.ot[t]))return E}else if(this.ot===t)return E;return this.ot=Array.isArray(t)?Array.from(t):t,this.render(t,n)}});function Gt(e){let{timeline:t,shown:n,isRunning:r,now:i}=e;return t.turns.length===0?T`<p class="empty">No text and no tool calls yet.</p>`:T`<ol class="turns">
    ${q(Kt(t.turns,n),({turn:e})=>e.number,({turn:n,entries:a})=>{let o=r&&a.some(qt)?i:Math.floor(i/6e4);return T`<li>${Wt([n,n.revision,a.length,r,o,t.marked],()=>Jt(n,a,e))}</li>`})}
  </ol>`}function Kt(e,t){let n=[],r=t;for(let t=e.length-1;t>=0&&r>0;--t){let i=e[t],a=i.entries.slice(-r);r-=a.length,n.push({turn:i,entries:a})}return n}const qt=e=>e.kind===`tool`&&(e.completedAt===null||e.approval!==null&&e.approval.decision===null);function Jt(e,t,n){let{timeline:r,now:i}=n;return T`<h3>Turn ${e.number} <span class="hint">${L(e.startedAt,i)}</span></h3>
    ${t.length<e.entries.length?T`<p class="hint">Its first entries are not shown.</p>`:D}
    ${t.map(e=>e===r.marked?T`<div class="marked">${Yt(e,n)}</div>`:Yt(e,n))}`}function Yt(e,{context:t,isRunning:n,now:r}){switch(e.kind){case`text`:return e.isDiscarded?T`<p class="hint">The runtime discarded ${e.text.length} characters of text.</p>`:T`<div class="answer">${Y(e.text,{showsEnd:n})}</div>`;case`progress`:return T`<p class="progress">${R(dt(ut(e.data),300))}</p>`;case`tool`:return Xt(e,{context:t,isRunning:n,now:r})}}function Xt(e,{context:t,isRunning:n,now:r}){let{approval:i}=e,a=i!==null&&i.decision===null&&n;return T`<div class="call ${e.isError?`is-error`:``}">
    <bridge-call .call=${e} .revision=${`${e.completedAt}${e.isTruncated}`} .summary=${Qt(e,n,r)}></bridge-call>
    ${i===null||i.decision===null?D:T`<p class="hint">
            ${i.decision===`approve`?`Approved`:`Rejected`} by ${i.by}${i.reason===null?``:`: ${R(i.reason)}`}
          </p>`}
    ${a?T`<div class="waiting">
            <p>${H(`approval`,`!`,`needs approval`)} ${Zt(i.expiresAt,r)}</p>
            ${Lt(e.input)}
            <bridge-decision .approvalId=${i.approvalId} .context=${t}></bridge-decision>
          </div>`:D}
  </div>`}function Zt(e,t){if(e===null)return T`<span class="countdown">waits without a time limit</span>`;let n=Date.parse(e)-t;return n<=0?T`<span class="countdown">expired</span>`:T`<span class="countdown">rejected automatically in ${I(Math.ceil(n/1e3)*1e3)}</span>`}function Qt(e,t,n){return e.completedAt===null?t?`running for ${I(n-Date.parse(e.invokedAt))}`:`no result`:I(Date.parse(e.completedAt)-Date.parse(e.invokedAt))}var $t=class extends M{static properties={call:{attribute:!1},revision:{attribute:!1},summary:{attribute:!1}};#e=!1;render(){let{toolName:e,input:t,isError:n,completedAt:r}=this.call;return T`<details @toggle=${this.#t}>
      <summary>
        <code>${R(e)}</code> <span class="input">${R(dt(ut(t)))}</span>
        ${n?H(`failed`,`✕`,`error`):D} <span class="time ${r===null?`open`:``}">${this.summary}</span>
      </summary>
      ${this.#e?this.#n():D}
    </details>`}#t(e){this.#e=e.newState===`open`,this.requestUpdate()}#n(){let{input:e,output:t,completedAt:n,isTruncated:r}=this.call;return T`
      ${r?T`<p class="note warning">Bridge cut this call, because it is longer than an event may be.</p>`:D}
      <h4>Input</h4>
      ${Lt(e)}
      ${n===null?D:T`<h4>Output</h4>${Y(t)}`}
    `}};customElements.define(`bridge-call`,$t);var en=class extends N{#e=/* @__PURE__ */ new Map;#t=null;#n;#r=[];#i=J(this,async e=>(await this.context.api.list(`/api/v2/approvals`,{limit:100},{signal:e})).data);connectedCallback(){super.connectedCallback();let{attention:e,feed:t}=this.context;this.#a(),this.#n=setInterval(()=>this.requestUpdate(),1e3),this.#r=[e.subscribe(()=>{this.#a(),this.requestUpdate()}),t.subscribe(e=>{(e?.some(({approvalId:e})=>e!==null)??!0)&&this.#i.refresh()})]}disconnectedCallback(){super.disconnectedCallback(),clearInterval(this.#n);for(let e of this.#r)e()}#a(){for(let e of this.context.attention.state.approvals)this.#e.set(e.approvalId,e)}onKey(e){let t=[...this.#e.keys()];if((e===`j`||e===`k`)&&t.length>0){let n=this.#t===null?-1:t.indexOf(this.#t);return this.#t=t[Math.min(t.length-1,Math.max(0,n+(e===`j`?1:-1)))]??null,this.requestUpdate(),this.updateComplete.then(()=>this.querySelector(`.approval[aria-current]`)?.focus()),!0}if(e!==`a`&&e!==`r`)return!1;let n=this.querySelector(`.approval[aria-current] bridge-decision`);return n!==null&&n.decide(e===`a`?`approve`:`reject`),n!==null}render(){let e=Date.now(),{state:t}=this.context.attention,n=t.approvals.length,r=(this.#i.value??[]).filter(({approvalId:e,state:t})=>t!==`pending`&&!this.#e.has(e));return T`
      <h1>Approvals <span class="hint">${n} waiting</span></h1>
      ${W(this.#i.error)}
      ${Bt()?T`<p><button @click=${this.#c}>Notify me in this browser</button></p>`:D}
      ${this.#e.size===0&&t.isLoaded?T`<p class="empty">No tool call waits for a decision.</p>`:D}
      <ol class="approvals">
        ${q(this.#e.values(),({approvalId:e})=>e,t=>this.#o(t,e))}
      </ol>
      ${r.length===0?D:T`<h2>Decided</h2><ul class="rows">${r.map(t=>tn(t,e))}</ul>`}
    `}#o(e,t){let{approvalId:n,toolName:r,agentId:i,provider:a,taskId:o,input:s,inputTruncated:c,createdAt:l,expiresAt:u}=e,d=this.context.attention.state.approvals.some(e=>e.approvalId===n),f=this.#i.value?.find(e=>e.approvalId===n&&e.state!==`pending`);return T`<li
      class="approval" tabindex="-1" aria-current=${this.#t===n?`true`:D} data-approval=${n}
      @focusin=${()=>this.#s(n)}
    >
      <h2><code>${R(r)}</code></h2>
      <p class="detail">
        ${i} · ${a} · <a href=${K(o)}>${o}</a> · asked ${U(l,t)} ago
        ${d?T`· ${Zt(u,t)}`:D}
      </p>
      ${c?T`<p class="note warning">This is only the beginning of the input. It is longer than Bridge stores.</p>`:D}
      ${Lt(s)}
      ${f===void 0||d?T`<bridge-decision .approvalId=${n} .context=${this.context}></bridge-decision>`:T`<p role="status">${nn(f)}</p>`}
    </li>`}#s(e){this.#t=e,this.requestUpdate()}async#c(){await Notification.requestPermission(),this.requestUpdate()}};function tn(e,t){return T`<li>
    ${nn(e)} <code>${R(e.toolName)}</code>
    <span class="detail">${R(dt(ut(e.input),100))}</span>
    <a href=${K(e.taskId)}>${e.agentId}</a> ${U(e.createdAt,t)}
  </li>`}function nn({state:e,decidedBy:t,reason:n}){return T`${H(e,e===`approved`?`✓`:`✕`,e)}
    <span class="detail">by ${t??`?`}${n===null||n===``?D:T`: ${R(n)}`}</span>`}customElements.define(`bridge-approvals`,en);function rn({attempts:e,lastStatus:t,lastError:n,nextAttemptAt:r},i){let a=[`${e} ${e===1?`attempt`:`attempts`}`];return t!==null&&a.push(`HTTP ${t}`),n!==null&&n!==`http_${t}`&&a.push(R(n)),r!==null&&a.push(`next at ${L(r,i)}`),a.join(`, `)}const an=[`dead`,`pending`,`delivered`];var on=class extends N{#e=``;#t=null;#n=-1;#r=()=>{};#i=J(this,e=>this.#o(e));connectedCallback(){super.connectedCallback(),this.#r=this.context.feed.subscribe(e=>{(e?.some(({type:e})=>e.startsWith(`callback.`))??!0)&&this.#i.refresh()})}disconnectedCallback(){super.disconnectedCallback(),this.#r()}#a(){return an.find(e=>e===this.route.query.get(`state`))??`dead`}async#o(e){let t=this.#a();return{...await this.context.api.list(`/api/v2/callbacks`,{state:t,limit:100},{signal:e}),state:t}}updated(){this.#i.value!==void 0&&this.#i.value.state!==this.#a()&&this.#i.refresh()}onKey(e){if(e!==`j`&&e!==`k`)return!1;let t=this.querySelectorAll(`.callback a`);return this.#n=Math.min(t.length-1,Math.max(0,this.#n+(e===`j`?1:-1))),t[this.#n]?.focus(),!0}async#s(e){await this.#l(`Redelivering …`,async()=>(await this.context.api.call(`/api/v2/callbacks/${encodeURIComponent(e)}/redeliver`,{method:`POST`}),1))}async#c(e){this.#t=null,await this.#l(`Redelivering to ${e} …`,async()=>{let t=0,n=null;do{let r={origin:e,...n!==null&&{cursor:n}},i=await this.context.api.call(`/api/v2/callbacks/redeliver`,{method:`POST`,body:r});t+=i.redelivered,n=i.nextCursor}while(n!==null);return t})}async#l(e,t){this.#e=e,this.requestUpdate(),this.#e=await t().then(e=>`Redelivery of ${sn(e)} started.`,e=>e instanceof P?e.message:String(e)),this.context.attention.refresh(),this.#i.refresh(),this.requestUpdate()}async#u(e){this.#e=``;try{this.#t={origin:e,...await this.#d(e)}}catch(e){this.#e=e instanceof P?e.message:String(e)}this.requestUpdate()}async#d(e){let t=0,n;for(let r=0;r<10;r+=1){let r=await this.context.api.list(`/api/v2/callbacks`,{state:`dead`,limit:200,cursor:n});if(t+=r.data.filter(({url:t})=>cn(t)===e).length,n=r.meta.nextCursor??void 0,n===void 0)return{count:t,hasMore:!1}}return{count:t,hasMore:!0}}render(){let e=this.#a(),t=this.#i.value?.state===e?this.#i.value:void 0;return T`
      <h1>Callbacks</h1>
      <p class="tabs">
        ${an.map(t=>T`<a class="tab" href=${G(`callbacks?state=${t}`)} aria-current=${t===e?`page`:D}>${t}</a>`)}
      </p>
      ${W(this.#i.error)}
      ${this.#e===``?D:T`<p class="note info" role="status">${this.#e}</p>`}
      ${t===void 0?T`<p role="status">Loading …</p>`:this.#f(e,t)}
    `}#f(e,t){let{data:n,meta:r}=t;if(n.length===0)return T`<p class="empty">${e===`dead`?`No callback is dead.`:`No callback is ${e}.`}</p>`;let i=Date.now();return T`
      ${e===`dead`&&this.context.identity.scopes.includes(`dispatch`)?this.#p(t):D}
      <ul class="rows">
        ${q(n,({taskId:e})=>e,e=>this.#g(e,i))}
      </ul>
      ${r.nextCursor===null?D:T`<p class="hint">The ${100} latest are shown.</p>`}
    `}#p({data:e,meta:t}){let n=Object.entries(Object.groupBy(e,({url:e})=>cn(e))).filter(([,e=[]])=>e.length>1||t.nextCursor!==null).map(([e])=>e);return T`${n.map(e=>this.#t?.origin===e?this.#m(this.#t):T`<p><button @click=${()=>this.#u(e)}>Redeliver all dead to ${R(e)}</button></p>`)}`}#m({origin:e,count:t,hasMore:n}){return T`<p class="actions">
      <span role="status">Redeliver ${n?`more than `:``}${sn(t)} to ${R(e)}?</span>
      <button @click=${()=>this.#c(e)}>Yes, redeliver</button>
      <button @click=${()=>this.#h()}>No</button>
    </p>`}#h(){this.#t=null,this.requestUpdate()}#g(e,t){let{taskId:n,url:r,state:i,updatedAt:a}=e,o=i===`dead`&&this.context.identity.scopes.includes(`dispatch`);return T`<li class="callback">
      ${_t(e)} <a href=${K(n)}>${n}</a> <span>${R(r)}</span>
      <span class="detail">${rn(e,t)}</span>
      ${U(a,t)}
      ${o?T`<button @click=${()=>this.#s(n)} aria-label="Redeliver the callback of ${n}">Redeliver</button>`:D}
    </li>`}};const sn=e=>`${e} ${e===1?`callback`:`callbacks`}`;function cn(e){return URL.canParse(e)?new URL(e).origin:e}customElements.define(`bridge-callbacks`,on);
/**
* @license
* Copyright 2020 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/const ln=Ie(class extends Le{constructor(e){if(super(e),e.type!==A.PROPERTY&&e.type!==A.ATTRIBUTE&&e.type!==A.BOOLEAN_ATTRIBUTE)throw Error("The `live` directive is not allowed on child or event bindings");if(!Be(e))throw Error("`live` bindings can only contain a single expression")}render(e){return e}update(e,[t]){if(t===E||t===D)return t;let n=e.element,r=e.name;if(e.type===A.PROPERTY){if(t===n[r])return E}else if(e.type===A.BOOLEAN_ATTRIBUTE){if(!!t===n.hasAttribute(r))return E}else if(e.type===A.ATTRIBUTE&&n.getAttribute(r)===t+``)return E;return We(e),t}}),un=[`provider`,`agentId`,`message`,`taskId`,`model`,`systemPrompt`,`resumeToken`,`callbackUrl`],dn=[`profile`,`approvals`],fn=[`metadata`,`bridgeInput`,`responderInput`];function pn(e){let t=[],n=t=>e[t]??``,r=e=>{if(n(e).trim()!==``)try{return JSON.parse(n(e))}catch(n){t.push({path:e,message:`must be JSON: ${n.message}`});return}},i=r(`others`)??{};(typeof i!=`object`||!i||Array.isArray(i))&&t.push({path:`others`,message:`must be a JSON object`});let a={};for(let e of un)n(e).trim()!==``&&(a[e]=e===`message`?n(e):n(e).trim());for(let e of dn)n(e)!==``&&(a[e]=n(e));n(`timeoutSeconds`).trim()!==``&&(a.timeoutSeconds=Number(n(`timeoutSeconds`)));let o=mn(n(`output`),n(`outputPath`),()=>r(`outputSchema`));o!==void 0&&(a.outputStrategy=o);for(let e of fn){let t=r(e);t!==void 0&&(a[e]=t)}return{body:{...a,...i},errors:t}}function mn(e,t,n){return e===`file`?{type:e,path:t.trim()}:e===`structured`?{type:e,schema:n()??{}}:e===``?void 0:{type:e}}function hn(e){let{taskId:t,outputStrategy:n,timeoutSeconds:r,...i}=e,a={},o={},s=[...un,...dn];for(let[e,t]of Object.entries(i))s.includes(e)&&typeof t==`string`?a[e]=t:fn.includes(e)?a[e]=JSON.stringify(t,null,2):o[e]=t;r!==void 0&&(a.timeoutSeconds=String(r));let{type:c=``,path:l=``,schema:u}=n??{};return Object.assign(a,{output:c,outputPath:l,...u!==void 0&&{outputSchema:JSON.stringify(u,null,2)}}),Object.keys(o).length>0&&(a.others=JSON.stringify(o,null,2)),a}function gn(e){let[t=``,n=``]=e.split(`.`);return t===`outputStrategy`?n===`path`?`outputPath`:n===`schema`?`outputSchema`:`output`:[...un,...dn,...fn,`timeoutSeconds`,`outputPath`,`outputSchema`,`others`].includes(t)?t:null}const _n=(e,t)=>[`curl ${yn(e)}`,`-H "Authorization: Bearer $BRIDGE_TOKEN"`,`-H "Content-Type: application/json"`,`-d ${yn(JSON.stringify(t))}`].join(` \\
  `),vn=(e,t)=>`import { createBridgeClient } from "bridge-client";

const bridge = createBridgeClient({ url: ${JSON.stringify(e)}, token: process.env.BRIDGE_TOKEN ?? "" });
const { state, result } = await bridge.run(${JSON.stringify(t,null,2)});
console.log(state, result?.output);
`,yn=e=>`'${e.replaceAll(`'`,`'\\''`)}'`;var bn=class extends M{static properties={context:{attribute:!1},body:{attribute:!1}};#e=null;#t=null;#n;#r=null;disconnectedCallback(){super.disconnectedCallback(),clearTimeout(this.#n),this.#r?.abort()}willUpdate(e){e.has(`body`)&&(clearTimeout(this.#n),this.#n=setTimeout(()=>void this.#i(),500))}async#i(){this.#r?.abort(),this.#r=new AbortController;let{signal:e}=this.#r;try{let t=JSON.parse(this.body);this.#e=await this.context.api.call(`/api/v2/dispatch/check`,{method:`POST`,body:t,signal:e}),this.#t=null}catch(t){if(e.aborted)return;this.#t=t instanceof P?t:new P(0,`unexpected`,String(t))}this.requestUpdate()}render(){return T`<section aria-labelledby="check" aria-live="polite">
      <h2 id="check">What the dispatch would do</h2>
      ${W(this.#t)} ${this.#e===null?T`<p class="empty">Checking …</p>`:xn(this.#e)}
    </section>`}};function xn({wouldAnswer:e,problem:t,task:n}){if(n===null)return T`<p class="note warning">Bridge would reject it (${e}): ${R(t?.detail??``)}</p>
      <ul>
        ${(t?.errors??[]).map(({path:e,message:t})=>T`<li><code>${e}</code> ${R(t)}</li>`)}
      </ul>`;if(n.replayed)return T`<p class="note info">It starts nothing, because a task with this id and content exists.</p>`;let{resolved:r,queueAhead:i}=n,a=[[`Adapter`,`${n.provider}${n.connection===null?``:` · ${n.connection}`}`],[`Model`,r.model??`default of the runtime`],[`Profile`,r.profile],[`Approvals`,r.approvals],[`Time limit`,I(r.timeoutSeconds*1e3)],[`Queued before it`,st(i)]];return T`<dl class="facts">
      ${a.map(([e,t])=>T`<div><dt>${e}</dt><dd>${R(t)}</dd></div>`)}
    </dl>
    ${n.warnings.map(e=>T`<p class="note warning">${R(e)}</p>`)}`}customElements.define(`bridge-dispatch-check`,bn);var Sn=class extends N{#e={};#t=[];#n=null;#r=!1;#i=[];#a=[];#o=()=>{};connectedCallback(){super.connectedCallback(),this.#o=this.context.attention.subscribe(()=>this.requestUpdate());let e=this.route.query.get(`agentId`);e!==null&&(this.#e.agentId=e),this.#s()}disconnectedCallback(){super.disconnectedCallback(),this.#o()}async#s(){let{api:e}=this.context,t=this.route.query.get(`from`);try{if(t!==null){let n=`/api/v2/tasks/${encodeURIComponent(t)}/request`,{request:r,masked:i}=await e.call(n);this.#e=hn(r),this.#a=i}let{data:n}=await e.list(`/api/v2/agents`,{limit:200});this.#i=n.map(({agentId:e})=>e)}catch(e){this.#n=e instanceof P?e:null}this.requestUpdate()}#c(){let{adapters:e}=this.context.attention.state,t=this.#e.provider??``;return t===``&&e.length===1?e[0]:e.find(e=>e.provider===t)}onKey(e){return e===`/`&&(this.querySelector(`select, input`)?.focus(),!0)}async#l(e){e.preventDefault();let{body:t,errors:n}=pn(this.#e);if(this.#t=n,this.#n=null,n.length>0)return this.#u();this.#r=!0,this.requestUpdate();try{let{taskId:e}=await this.context.api.call(`/api/v2/dispatch`,{method:`POST`,body:t});Et(K(e))}catch(e){this.#n=e instanceof P?e:new P(0,`unexpected`,String(e)),this.#t=this.#n.errors,await this.#u()}finally{this.#r=!1,this.requestUpdate()}}async#u(){this.requestUpdate(),await this.updateComplete,this.querySelector(`[aria-invalid=true]`)?.focus()}render(){let{adapters:e}=this.context.attention.state,t=this.#c(),{approvals:n,sessionResume:r,inputs:i=[],outputStrategies:a=[]}=t?.capabilities??{},{body:o}=pn(this.#e),s=this.#t.filter(({path:e})=>gn(e)===null);return this.context.identity.scopes.includes(`dispatch`)?T`
      <h1>New task</h1>
      ${W(this.#n)}
      ${s.map(({path:e,message:t})=>T`<p class="note error"><code>${e}</code> ${t}</p>`)}
      ${this.#a.length===0?D:T`<p class="note warning">Replace the masked secrets: ${this.#a.join(`, `)}.</p>`}
      <form class="dispatch" @submit=${this.#l} novalidate>
        ${this.#d(`provider`,`Adapter`,{type:e.map(({provider:e})=>e)})}
        ${t===void 0||t.health.status===`healthy`?D:T`<p class="note warning wide">${t.provider} is ${t.health.status}. ${R(t.health.detail??``)}</p>`}
        ${this.#d(`agentId`,`Agent`,{list:`agents`,hint:`The task works in the directory of this agent.`})}
        <datalist id="agents">${this.#i.map(e=>T`<option value=${e}></option>`)}</datalist>
        ${this.#d(`message`,`Message`,{type:`area`,hint:`What to do.`})}
        ${this.#d(`profile`,`Profile`,{type:[`inspect`,`modify`],hint:`inspect: read-only. modify: may edit files and run commands.`})}
        ${n===!0?this.#d(`approvals`,`Approvals`,{type:[`ask`,`deny`,`allow`]}):D}
        ${this.#d(`model`,`Model`,{})} ${this.#d(`timeoutSeconds`,`Time limit in seconds`,{type:`number`})}
        ${a.length>1?this.#d(`output`,`Output`,{type:a}):D}
        ${this.#e.output===`file`?this.#d(`outputPath`,`Output file`,{}):D}
        ${this.#e.output===`structured`?this.#d(`outputSchema`,`JSON Schema of the output`,{type:`area`}):D}
        ${i.map(e=>this.#d(e,e,{type:`area`,hint:`JSON`}))}
        <details class="wide">
          <summary>More fields</summary>
          <div class="dispatch">
            ${this.#d(`taskId`,`Task id`,{hint:`A repeated id refers to the same task.`})}
            ${r===!0?this.#d(`resumeToken`,`Resume token`,{}):D}
            ${this.#d(`callbackUrl`,`Callback URL`,{type:`url`})} ${this.#d(`systemPrompt`,`System prompt`,{type:`area`})}
            ${this.#d(`metadata`,`Metadata`,{type:`area`,hint:`JSON object`})}
            ${this.#d(`others`,`Other fields of the dispatch`,{type:`area`,hint:`JSON object`})}
          </div>
        </details>
        <p class="actions wide">
          <button class="primary" type="submit" ?disabled=${this.#r}>Dispatch</button>
          ${this.#r?T`<span role="status">Sending …</span>`:D}
        </p>
      </form>
      <bridge-dispatch-check .context=${this.context} .body=${JSON.stringify(o)}></bridge-dispatch-check>
      ${Cn(`As a command`,_n(new URL(`api/v2/dispatch`,Ye).href,o),`Copy as curl`)}
      ${Cn(`As TypeScript`,vn(Ye.href,o),`Copy as TypeScript`)}
    `:T`<h1>New task</h1><p class="note warning">Your token cannot dispatch tasks.</p>`}#d(e,t,{type:n=`text`,hint:r=``,list:i}){let a=this.#e[e]??``,o=this.#t.find(({path:t})=>gn(t)===e)?.message??``,s=[r===``?``:`${e}-hint`,o===``?``:`${e}-error`].filter(e=>e!==``).join(` `),c=t=>{this.#e[e]=t.target.value,this.requestUpdate()},l=o===``?D:`true`,u=s===``?D:s;return T`<div class=${n===`area`?`wide`:``}>
      <label for=${e}>${t}</label>
      ${n===`area`?T`<textarea
              id=${e} rows=${e===`message`?5:3} .value=${ln(a)} @input=${c}
              aria-invalid=${l} aria-describedby=${u} spellcheck=${e===`message`}
            ></textarea>`:typeof n==`object`?T`<select id=${e} @change=${c} aria-invalid=${l} aria-describedby=${u}>
                <option value="" ?selected=${a===``}>default</option>
                ${n.map(e=>T`<option value=${e} ?selected=${e===a}>${e}</option>`)}
              </select>`:T`<input
                id=${e} type=${n} .value=${ln(a)} @input=${c} list=${i??D} autocomplete="off"
                spellcheck="false" aria-invalid=${l} aria-describedby=${u}
              />`}
      ${r===``?D:T`<p class="hint" id="${e}-hint">${r}</p>`}
      ${o===``?D:T`<p class="field-error" id="${e}-error">${o}</p>`}
    </div>`}};const Cn=(e,t,n)=>T`<details>
    <summary>${e}</summary>
    <pre tabindex="0">${R(t)}</pre>
    ${bt(t,n)}
  </details>`;customElements.define(`bridge-new`,Sn);const wn=({costUsd:e,tasksWithoutCost:t})=>En(ot(e),e!==null&&t>0),Tn=(e,{tasksWithoutUsage:t})=>En(st(e),e!==null&&t>0),En=(e,t)=>t?`${e} + ?`:e;function Dn({data:e},t){let n=e.filter(({key:e})=>e!==null&&Date.parse(e)>=t),r=e=>n.reduce((t,n)=>t+e(n),0),i=r(({costUsd:e})=>e??0),a=r(e=>e.tasksWithoutCost);return{tasks:r(({tasks:e})=>e),costUsd:i===0&&a>0?null:i,tasksWithoutCost:a}}const On=[`tasks`,`cost`,`tokens`],kn={tasks:[{kind:`completed`,label:`completed`,read:({completed:e})=>e},{kind:`failed`,label:`failed`,read:({failed:e})=>e},{kind:`cancelled`,label:`canceled`,read:({cancelled:e})=>e}],cost:[{kind:`cost`,label:`known cost in US dollars`,read:({costUsd:e})=>e}],tokens:[{kind:`input`,label:`input tokens`,read:({inputTokens:e})=>e},{kind:`output`,label:`output tokens`,read:({outputTokens:e})=>e}]};var An=class extends N{#e=J(this,async e=>(await this.context.api.list(`/api/v2/tasks`,{root:`*`,limit:10},{signal:e})).data);#t=J(this,e=>this.context.api.call(`/api/v2/stats?window=24h&by=hour`,{signal:e}),{intervalMs:()=>15e3});#n=[];connectedCallback(){super.connectedCallback();let{attention:e,feed:t}=this.context;this.#n=[e.subscribe(()=>this.requestUpdate()),t.subscribe(()=>this.#e.refresh())]}disconnectedCallback(){super.disconnectedCallback();for(let e of this.#n)e()}render(){let{approvals:e,deadCallbacks:t,hasMoreDead:n,webhooks:r,adapters:i,error:a,isLoaded:o}=this.context.attention.state,s=e=>i.reduce((t,n)=>t+n[e],0),c=i.filter(({health:e})=>e.status===`offline`),l=this.#t.value===void 0?null:Dn(this.#t.value,(/* @__PURE__ */ new Date()).setHours(0,0,0,0)),u=e.length+t.length+r.length+c.length;return T`
      <h1>Overview</h1>
      ${W(a)}
      <ul class="figures">
        ${X(`Running`,o?s(`running`):``,`tasks?state=running`)}
        ${X(`Queued`,o?s(`queued`):``,`tasks?state=queued`)}
        ${X(`Waiting for approval`,o?e.length:``,`approvals`,e.length>0)}
        ${X(`Dead callbacks`,o?`${t.length}${n?`+`:``}`:``,`callbacks`,t.length>0)}
        ${X(`Ended today`,l?.tasks??``,`usage`)} ${X(`Cost today`,l===null?``:wn(l),`usage`)}
      </ul>
      <section aria-labelledby="needs-you">
        <h2 id="needs-you">Needs you</h2>
        ${u===0&&o?T`<p class="empty">Nothing waits for a person.</p>`:D}
        <ul class="rows">
          ${e.slice(0,10).map(e=>T`<li>
              ${V(`approval`)}
              <a href=${G(`approvals`)}>${e.agentId} wants to call <code>${e.toolName}</code></a>
              ${U(e.createdAt,Date.now())}
            </li>`)}
          ${t.slice(0,10).map(e=>T`<li>
              <span class="badge failed"><span aria-hidden="true">✕</span> dead callback</span>
              <a href=${G(`callbacks`)}>${e.url}</a> <span class="detail">${rn(e,Date.now())}</span>
            </li>`)}
          ${r.map(({name:e,origin:t,dead:n})=>T`<li>
              <span class="badge failed"><span aria-hidden="true">✕</span> ${n} dead ${n===1?`delivery`:`deliveries`}</span>
              <a href=${G(`webhooks?name=${encodeURIComponent(e)}`)}>${e}</a> <span class="detail">${t}</span>
            </li>`)}
          ${c.map(({provider:e,health:t})=>T`<li>
              ${yt(`offline`)} <a href=${G(`adapters`)}>${e}</a> <span class="detail">${t.detail}</span>
            </li>`)}
        </ul>
      </section>
      <section aria-labelledby="recent">
        <h2 id="recent">Latest tasks</h2>
        ${this.#r()}
      </section>
    `}#r(){let{value:e,error:t}=this.#e;if(e===void 0)return T`${W(t)}`;if(e.length===0)return jn();let n=Date.now();return T`${W(t)}
      <ul class="rows">
        ${e.map(e=>T`<li>
            ${V(z(e,n))} <a href=${K(e.taskId)}>${R(e.title??e.taskId)}</a>
            <span class="detail">${e.title===null?D:T`${e.taskId} · `}${e.agentId} · ${e.provider}</span> ${U(e.createdAt,n)}
          </li>`)}
      </ul>
      <p><a href=${G(`tasks`)}>All tasks</a></p>`}};function X(e,t,n,r=!1){return T`<li class=${r?`urgent`:``}>
    <a href=${G(n)}><span class="value">${t}</span> <span class="label">${e}</span></a>
  </li>`}const jn=()=>T`
  <p class="empty">No tasks yet. <a href=${G(`new`)}>Dispatch one here</a>, or from a terminal:</p>
  <pre tabindex="0"><code>AUTH="Authorization: Bearer $(cat data/token)"
mkdir -p data/workspaces/default/auditor &amp;&amp; cp README.md data/workspaces/default/auditor/
curl ${G(`../api/v2/dispatch`)} -H "$AUTH" -H "Content-Type: application/json" \\
  -d '{"agentId":"auditor","message":"Count BRIDGE in *.md"}'</code></pre>
`;customElements.define(`bridge-overview`,An);var Mn=class extends M{static properties={reason:{attribute:!1},onSignIn:{attribute:!1}};#e(e){e.preventDefault();let t=new FormData(e.target),n=String(t.get(`token`)??``).trim();n!==``&&this.onSignIn(n,{remember:t.get(`remember`)===`on`})}firstUpdated(){this.querySelector(`#token`)?.focus()}render(){return T`
      <main class="sign-in">
        <h1>Bridge</h1>
        ${this.reason===null?D:T`<p class="note error" role="alert">${this.reason}</p>`}
        <form @submit=${this.#e}>
          <label for="token">Token</label>
          <input
            id="token" name="token" type="password" autocomplete="off" spellcheck="false" required
            pattern="[!-~]+" title="A token without spaces" aria-describedby="token-help"
          />
          <p class="hint" id="token-help">On the host of Bridge: <code>cat data/token</code>, unless the operator configured tokens.</p>
          <label class="check"><input name="remember" type="checkbox" /> Remember in this browser</label>
          <p class="hint">Otherwise the token stays in this tab until you close it.</p>
          <button class="primary" type="submit">Sign in</button>
        </form>
      </main>
    `}};customElements.define(`bridge-sign-in`,Mn);const Nn=[`multi_source_confirmed`,`outputs`,`single_source_findings`,`integration_findings`,`disputed_findings`,`disputed_outputs`,`withdrawn_findings`,`withdrawn_outputs`];function Pn(e,t){let n=t.flatMap(e=>{let{role:t,domain:n,round:r}=In(In(e.metadata).council);return typeof t!=`string`||typeof r!=`number`?[]:[{name:`${t} (${[e.provider,t,n].filter(e=>typeof e==`string`&&e!==``&&e!==t).join(` · `)})`,round:r,child:e}]}),r=In(e.result?.outputs);if(n.length===0&&!(`verdict`in r&&`roles`in r))return null;let i=[...new Set(n.map(({name:e})=>e))];return{verdict:Z(r.verdict),isPartial:r.partial_coverage===!0,skipped:Ln(r.skip_reasons).map(({bridge:e,reason:t})=>({bridge:String(e),reason:String(t)})),findings:Nn.flatMap(e=>Ln(r[e]).map(t=>Fn(t,e))),rounds:[...new Set(n.map(({round:e})=>e))].toSorted((e,t)=>e-t),roles:i.map(e=>({name:e,tasks:new Map(n.filter(t=>t.name===e).map(({round:e,child:t})=>[e,t]))}))}}function Fn(e,t){let n=`output`in e?In(e.output):e,r=Ln(n.positions).map(({bridge:e,id:t})=>`${String(e)} ${String(t)}`),i=Array.isArray(n.confirmed_by)?`confirmed by ${n.confirmed_by.join(`, `)}`:``,a=Z(e.unresolved_challenge);return{id:Z(n.id)??``,severity:Z(n.severity),status:t.startsWith(`withdrawn`)?`withdrawn`:t.startsWith(`disputed`)?`disputed`:Z(n.status)??``,title:Z(n.title)??``,description:Z(n.description)??``,evidence:Z(n.evidence),action:Z(n.action),raisedBy:r.length>0?r.join(`, `):Z(n.agent)??Z(n.source_bridge)??`the council`,note:a===null?i:`challenged: ${a}`}}const In=e=>typeof e==`object`&&e&&!Array.isArray(e)?e:{},Ln=e=>Array.isArray(e)?e.map(In):[],Z=e=>typeof e==`string`?e:null;function Rn({attempts:e,history:t},n){if(t.length===0)return D;let r=e-t.length;return T`<section aria-labelledby="attempts">
    <h2 id="attempts">Callback attempts <span class="hint">${e}</span></h2>
    <ul class="rows attempts">
      ${t.toReversed().map(e=>zn(e,n))}
    </ul>
    ${r===0?D:T`<p class="hint">Earlier attempts are no longer stored: ${r}.</p>`}
  </section>`}function zn({number:e,at:t,status:n,error:r,durationMs:i,response:a,responseTruncated:o},s){return T`<li>
    <strong>${e}</strong> <span>${n===null?`no response`:`HTTP ${n}`}</span>
    <span class="detail">${r===null?`delivered`:R(r)}, ${I(i)}</span>
    <time datetime=${t}>${L(t,s)}</time>
    ${a===null||a===``?D:T`<details>
            <summary>Response ${o?T`<span class="hint">beginning</span>`:D}</summary>
            ${Y(a)}
          </details>`}
  </li>`}const Bn={PASS:[`completed`,`✓`],CONCERNS:[`approval`,`!`],FAIL:[`failed`,`✕`]};function Vn({verdict:e,isPartial:t,skipped:n,findings:r,rounds:i,roles:a},o){let[s,c]=Bn[e??``]??[``,`·`];return T`<section aria-labelledby="council">
    <h2 id="council">Council ${e===null?D:H(s,c,e)}</h2>
    ${t?T`<p class="note warning">Not every requested runtime completed, so the coverage is partial.</p>`:D}
    ${n.map(({bridge:e,reason:t})=>T`<p class="note info"><strong>${e}</strong> did not take part: ${R(t)}</p>`)}
    ${a.length===0?D:T`<div class="scroll" tabindex="0" role="region" aria-label="Roles and rounds">
            <table class="council">
              <thead>
                <tr><th scope="col">Role</th>${i.map(e=>T`<th scope="col">Round ${e}</th>`)}</tr>
              </thead>
              <tbody>
                ${a.map(({name:e,tasks:t})=>T`<tr>
                    <th scope="row">${e}</th>
                    ${i.map(e=>{let n=t.get(e);return T`<td>${n===void 0?D:T`<a href=${K(n.taskId)}>${V(z(n,o))}</a>`}</td>`})}
                  </tr>`)}
              </tbody>
            </table>
          </div>`}
    ${r.length===0?D:T`<h3>Findings</h3><ul class="rows findings">${r.map(Hn)}</ul>`}
  </section>`}function Hn({severity:e,status:t,title:n,description:r,evidence:i,action:a,raisedBy:o,note:s}){return T`<li>
    <details>
      <summary>
        ${e===null?D:H(e===`CRITICAL`||e===`HIGH`?`failed`:`approval`,`▲`,e)}
        ${H(``,`·`,t)} ${R(n)} <span class="detail">${R(o)}</span>
      </summary>
      ${s===``?D:T`<p class="detail">${R(s)}</p>`} ${Y(r)}
      ${i===null?D:T`<h4>Evidence</h4>${Y(i)}`} ${a===null?D:T`<h4>Action</h4>${Y(a)}`}
    </details>
  </li>`}function Un(e,t,n){let r=Date.parse(e.startedAt??e.createdAt),i=Math.max(1,Wn(e.finishedAt,n)-r),a=Wn(t.startedAt,n)-r,o=Wn(t.finishedAt,n)-r,s=e=>Math.min(100,Math.max(0,e/i*100)),c=t.startedAt===null?`not started`:`${I(o-a)}, ${I(a)} after the start`;return T`<svg class="lane" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label=${c}>
    <rect class="track" width="100" height="8" />
    <rect class="bar" x=${s(a)} width=${Math.max(.5,s(o)-s(a))} height="8" />
  </svg>`}const Wn=(e,t)=>e===null?t:Date.parse(e),Gn={"+":`added`,"-":`removed`," ":`same`},Kn=/^(?:new file|deleted file|old mode|new mode|Binary files)/;function qn(e,t){let n=[],r={path:``,notes:[],lines:[]},[i,a,o,s]=[0,0,0,0];function c(e){let t=Gn[e[0]];if(o+s>0&&t!==void 0){let[n,c]=[t!==`added`,t!==`removed`];r.lines.push({kind:t,oldNumber:n?i:null,newNumber:c?a:null,text:e.slice(1)}),n&&([i,o]=[i+1,o-1]),c&&([a,s]=[a+1,s-1])}else e.startsWith(`\\`)?r.lines.push({kind:`comment`,oldNumber:null,newNumber:null,text:e.slice(2)}):l(e)}function l(e){let t=/^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(e);t===null?e.startsWith(`diff --git `)?([o,s]=[0,0],r={path:Jn(e.slice(11)),notes:[],lines:[]},n.push(r)):Kn.test(e)&&r.notes.push(e):([i,o,a,s]=[t[1],t[2]??1,t[3],t[4]??1].map(Number),r.lines.push({kind:`hunk`,oldNumber:null,newNumber:null,text:e}))}let u=0;for(let r=0;u<e.length;r+=1){if(r===t)return{files:n,rest:u};let i=e.indexOf(`
`,u),a=i===-1?e.length:i;c(e.slice(u,a)),u=a+1}return{files:n,rest:null}}const Jn=e=>e.slice(0,(e.length-1)/2).replace(/^a\//,``),Yn=1e3,Xn=2e3,Zn={bytes:`The diff is too long. Its end is missing.`,time:`git took too long. The end of the diff is missing.`,unreadable:`git could not read a file or an object. The end of the diff is missing.`};var Qn=class extends M{static properties={context:{attribute:!1},taskId:{attribute:!1}};#e=`closed`;#t=Yn;async#n(){this.#e=`loading`,this.#t=Yn,this.requestUpdate();let e=`/api/v2/tasks/${encodeURIComponent(this.taskId)}/diff`;this.#e=await this.context.api.call(e).catch(e=>e instanceof P?e:new P(0,`unreachable`,String(e))),this.requestUpdate()}render(){let e=this.#e;if(e===`closed`)return T`<button @click=${this.#n}>Show the diff</button>`;if(e===`loading`)return T`<p role="status">Comparing with the commit at the start …</p>`;let t=e instanceof P?T`<p class="note ${e.code===`invalid_state`?`info`:`error`}" role="status">${e.message}</p>`:this.#r(e);return T`${t} <button @click=${this.#n}>Compare again</button>`}#r({commit:e,directory:t,diff:n,truncated:r,omitted:i}){let{files:a,rest:o}=qn(n,this.#t);return T`
      <p class="hint">
        Changes since commit <code>${e.slice(0,12)}</code>${t===``?``:T` in <code>${R(t)}</code>`}, as the
        files are now.
      </p>
      ${r===null?D:T`<p class="note warning">${Zn[r]??`The end of the diff is missing.`}</p>`}
      ${i.length===0?D:T`<p class="note warning">Too large to be compared: ${R(i.join(`, `))}</p>`}
      ${n===``&&r===null?T`<p class="empty">No changes.</p>`:a.map($n)}
      ${o===null?D:T`<button @click=${this.#i}>Show more (${ct(n.length-o)} left)</button>`}
    `}#i(){this.#t+=5e3,this.requestUpdate()}};function $n({path:e,notes:t,lines:n}){return T`<div class="diff">
    <h3><code>${R(e)}</code></h3>
    ${t.map(e=>T`<p class="hint">${R(e)}</p>`)}
    ${n.length===0?D:T`<table aria-label="Changes of ${R(e)}"><tbody>${n.map(tr)}</tbody></table>`}
  </div>`}const er={added:`+`,removed:`-`,same:` `,hunk:``,comment:``},tr=({kind:e,oldNumber:t,newNumber:n,text:r})=>T`<tr class=${e}><td class="line">${t}</td><td class="line">${n}</td><td class="sign">${er[e]}</td><td class="code">${R(nr(r))}</td></tr>`,nr=e=>e.length<=Xn?e:`${e.slice(0,Xn)} … (${e.length-Xn} more characters)`;customElements.define(`bridge-task-diff`,Qn);const rr=(e,t)=>T`<section aria-labelledby="diff">
    <h2 id="diff">Diff</h2>
    <bridge-task-diff .taskId=${e} .context=${t}></bridge-task-diff>
  </section>`;function ir(e=null){let t=[],n=/* @__PURE__ */ new Map,r=/* @__PURE__ */ new WeakMap,i=0,a=0,o,s=null,c=0,l=null,u=e=>i===0&&e.entries.some(({kind:e})=>e===`tool`);function d(e,{isModel:n}){let r=t.at(-1);if(r!==void 0&&!(n&&u(r)))return r;let i={number:t.length+1,startedAt:e,entries:[],revision:0};return t.push(i),i}function f(e,t){return e.entries.push(t),r.set(t,e),a+=1,t}function p(e,t){let n=d(e,{isModel:!0}),r=n.entries.at(-1);return r?.kind===`text`&&!r.isDiscarded?Object.assign(r,{text:r.text+t}):f(n,{kind:`text`,at:e,text:t,isDiscarded:!1})}function m(e,t){return f(d(e,{isModel:!1}),{kind:`progress`,at:e,data:t})}function h(e,{toolCallId:t,toolName:r,input:a}){let o=n.get(t);if(o!==void 0)return o;let s={kind:`tool`,toolCallId:t,toolName:r,input:a,invokedAt:e,completedAt:null,output:null,isError:!1,isTruncated:!1,approval:null};return f(d(e,{isModel:!0}),s),n.set(t,s),i+=1,s}function g(e,t){let n=h(e,{...t,input:null});return n.completedAt===null&&--i,Object.assign(n,{completedAt:e,output:t.output,isError:t.isError})}function _(e){let{timestamp:r}=e;switch(e.type){case`assistant.text`:return p(r,e.data.content);case`assistant.text_discarded`:return ar(t),null;case`tool.invoked`:{let t=h(r,e.data);return t.isTruncated||=e.data.truncated===!0,t}case`tool.completed`:{let t=g(r,e.data);return t.isTruncated||=e.data.truncated===!0,t}case`tool.approval_requested`:{let{approvalId:t,expiresAt:n}=e.data;return Object.assign(h(r,e.data),{approval:{approvalId:t,expiresAt:n,decision:null,by:null,reason:null}})}case`tool.approval_resolved`:{let{toolCallId:t,decision:r,by:i,reason:a}=e.data,o=n.get(t);return o?.approval!=null&&Object.assign(o.approval,{decision:r,by:i,reason:a}),o??null}case`execution.progress`:return m(r,e.data);default:return null}}return{turns:t,get marked(){return l},get lastEventId(){return o},get lastEventAt(){return s},get entryCount(){return a},get count(){return c},add(t){o=t.id,s=t.timestamp,c+=1;let n=_(t),i=n===null?void 0:r.get(n);i!==void 0&&(i.revision+=1),t.id===e&&(l=n)}}}function ar(e){for(let t of e.toReversed())for(let e of t.entries.toReversed()){if(e.kind===`tool`)return;e.kind===`text`&&(e.isDiscarded=!0,t.revision+=1)}}var or=class extends N{paintGapMs=100;#e=ir();#t=!1;#n=!1;#r=null;#i=null;#a=``;#o=!1;#s=100;#c;#l=()=>{};#u;#d=null;#f=J(this,e=>this.#m(e),{intervalMs:()=>this.#p()?6e4:Mt});connectedCallback(){super.connectedCallback(),this.#c=setInterval(()=>this.requestUpdate(),1e3),this.#l=this.context.feed.subscribe(e=>{(e?.some(({taskId:e})=>e===this.route.id)??!0)&&this.#f.refresh()}),this.#e=ir(this.route.query.get(`event`)),this.#r=new AbortController,this.#_(this.#r.signal)}disconnectedCallback(){super.disconnectedCallback(),clearInterval(this.#c),this.#l(),this.#r?.abort()}#p(){let e=this.#f.value?.task;return e!==void 0&&B(e)&&e.callback?.state!==`pending`}async#m(e){let{api:t}=this.context,n=`/api/v2/tasks/${encodeURIComponent(this.route.id)}`,[r,i,a]=await Promise.all([t.call(n,{signal:e}),t.list(`/api/v2/tasks`,{parentTaskId:this.route.id,limit:200},{signal:e}),this.#u??this.#h(n,e)]);this.#u=a;let[o,s]=await Promise.all([B(r)?t.list(`${n}/files`,{limit:200},{signal:e}).catch(()=>null):null,this.#g(r,e)]);return{task:r,children:i.data.toReversed(),files:o?.data??[],request:a,callback:s}}async#h(e,t){let{message:n,...r}=(await this.context.api.call(`${e}/request`,{signal:t})).request;return{message:n,fields:r}}async#g({taskId:e,callback:t},n){return t===null||t.attempts===0?null:(this.#d?.attempts!==t.attempts&&(this.#d=await this.context.api.call(`/api/v2/callbacks/${encodeURIComponent(e)}`,{signal:n})),this.#d)}async#_(e){let t=()=>{this.#n=!0};try{for await(let n of this.context.feed.followTask(this.route.id,{signal:e,onGap:t}))this.#e.add(n),this.requestUpdate();this.#f.refresh()}catch(t){e.aborted||(this.#i=t)}this.requestUpdate()}async#v(){this.#o=!1;let e=`/api/v2/tasks/${encodeURIComponent(this.route.id)}/cancel`;this.#a=await this.context.api.call(e,{method:`POST`}).then(()=>`Cancellation requested. The task ends when its runtime has stopped.`,e=>e instanceof P?e.message:String(e)),this.#f.refresh(),this.requestUpdate()}async#y(){let e=`/api/v2/callbacks/${encodeURIComponent(this.route.id)}/redeliver`;this.#a=await this.context.api.call(e,{method:`POST`}).then(()=>`Redelivery started.`,e=>e instanceof P?e.message:String(e)),this.#f.refresh(),this.requestUpdate()}async#b({path:e}){let t=e.split(`/`).map(encodeURIComponent).join(`/`);try{Ft(await this.context.api.download(`/api/v2/tasks/${encodeURIComponent(this.route.id)}/files/${t}`),e.split(`/`).at(-1)??`file`)}catch(e){this.#a=e instanceof P?e.message:String(e),this.requestUpdate()}}updated(){let{marked:e,turns:t,entryCount:n}=this.#e;if(e===null||this.#t)return;let r=this.querySelector(`.marked`);if(r===null){let r=t.flatMap(({entries:e})=>e).indexOf(e);n-r>this.#s&&this.#x(n-r)}else this.#t=!0,r.scrollIntoView({block:`center`})}render(){let{value:e,error:t}=this.#f;if(t?.status===404)return this.#C();if(e===void 0)return T`<h1>${this.route.id}</h1>${t===null?T`<p role="status">Loading …</p>`:W(t)}`;let{task:n}=e,r=Date.now(),i=Pn(n,e.children);return T`
      <h1>${R(n.taskId)} ${V(z(this.#S(n),r))}</h1>
      ${W(t)} ${this.#w(n)}
      ${this.#a===``?D:T`<p class="note info" role="status">${this.#a}</p>`} ${this.#E(n,r)}
      ${this.#D(n,r)} ${i===null?D:Vn(i,r)} ${this.#O(n)} ${sr(e.request)}
      <section aria-labelledby="timeline">
        <h2 id="timeline">Timeline <span class="hint">${this.#e.count} events</span></h2>
        ${this.#n?T`<p class="note warning">Earlier events of this task have been deleted.</p>`:D}
        ${this.#i===null||this.#f.error!==null?D:T`<p class="note error" role="alert">The events cannot be read: ${String(this.#i)}</p>`}
        ${Gt({timeline:this.#e,shown:this.#s,context:this.context,isRunning:!B(n),now:r})}
        ${this.#e.entryCount>this.#s?T`<button @click=${()=>this.#x(this.#s+100)}>Show ${100} earlier entries</button>`:D}
      </section>
      ${e.callback===null?D:Rn(e.callback,r)}
      ${this.#k(n,e.children,r)} ${this.#A(e.files)}
      ${n.startedAt===null?D:rr(n.taskId,this.context)}
    `}#x(e){this.#s=e,this.requestUpdate()}#S(e){let{lastEventAt:t}=this.#e;return t!==null&&t>(e.lastProgressAt??``)?{...e,lastProgressAt:t,waitingOn:e.waitingOn===`runtime`?null:e.waitingOn}:e}#C(){return T`<h1>${R(this.route.id)}</h1>
      <p class="note warning">
        There is no such task. It never existed, belongs to another tenant, was deleted, or ended longer ago than Bridge keeps tasks
        (<code>BRIDGE_RETENTION_DAYS</code>).
      </p>
      <p><a href=${G(`tasks`)}>All tasks</a></p>`}#w(e){if(!this.context.identity.scopes.includes(`dispatch`))return D;let t=this.#o?T`<span>Cancel this task and its child tasks?</span>
          <button class="danger" @click=${this.#v}>Yes, cancel</button> <button @click=${()=>this.#T(!1)}>No</button>`:T`<button class="danger" @click=${()=>this.#T(!0)}>Cancel</button>`;return T`<div class="actions">
      ${B(e)?D:t}
      <a class="button" href=${G(`new?from=${encodeURIComponent(e.taskId)}`)}>Run again with changes</a>
      ${e.callback?.state===`dead`?T`<button @click=${this.#y}>Redeliver the callback</button>`:D}
    </div>`}#T(e){this.#o=e,this.requestUpdate()}#E(e,t){let n=this.#S(e);switch(z(n,t)){case`queued`:return T`<p class="note info">The task ${mt(e)||`is queued`}.</p>`;case`approval`:return T`<p class="note warning">A tool call waits for your decision, in the timeline.</p>`;case`silent`:{let e=n.lastProgressAt??n.startedAt;return T`<p class="note warning">No event for ${e===null?`?`:I(t-Date.parse(e))}.</p>`}case`failed`:case`cancelled`:return T`<p class="note error">
          <strong>${e.result?.errorCode??e.state}</strong> ${R(dt(e.result?.error??``,2e3))}
        </p>`;default:return D}}#D(e,t){let{result:n,callback:r}=e,i=e.finishedAt===null?t:Date.parse(e.finishedAt),a=n?.usage,o=Object.entries(e.labels),s=[[`Agent`,T`<a href=${G(`tasks?agentId=${encodeURIComponent(e.agentId)}`)}>${e.agentId}</a>`],[`Adapter`,`${e.provider}${n===null?``:` · ${n.connection}`}`],[`Model`,n?.model??(n===null?null:`?`)],[`Created`,T`${L(e.createdAt,t)} (${U(e.createdAt,t)} ago)`],[`Duration`,e.startedAt===null?null:I(i-Date.parse(e.startedAt))],[`Cost`,n===null?null:ot(n.costUsd)],[`Tokens`,n===null?null:a===void 0?`?`:`${st(a.inputTokens)} in, ${st(a.outputTokens)} out`],[`Node`,e.node],[`Parent`,e.parentTaskId===null?null:T`<a href=${K(e.parentTaskId)}>${e.parentTaskId}</a>`],[`Callback`,r===null?null:T`${_t(r)} ${r.url} <span class="detail">${rn(r,t)}</span>`],[`Labels`,o.length===0?null:o.map(([e,t])=>`${e}=${t}`).join(`, `)],[`Metadata`,e.metadata===null?null:T`<code>${R(dt(ut(e.metadata),400))}</code>`]];return T`<dl class="facts">
      ${s.filter(([,e])=>e!==null).map(([e,t])=>T`<div><dt>${e}</dt><dd>${t}</dd></div>`)}
    </dl>`}#O({result:e,state:t}){return e===null?D:T`<section aria-labelledby="result">
      <h2 id="result">Result</h2>
      ${e.error===void 0||t===`completed`?D:Y(e.error)}
      ${e.output===void 0||e.output===``?D:Y(e.output)}
      ${e.outputs===void 0?D:T`<details ?open=${!e.output}><summary>Structured output</summary>${Y(e.outputs)}</details>`}
      ${e.error===void 0&&!e.output&&e.outputs===void 0?T`<p class="empty">No output.</p>`:D}
    </section>`}#k(e,t,n){return t.length===0?D:T`<section aria-labelledby="children">
      <h2 id="children">Child tasks <span class="hint">${t.length}</span></h2>
      <ul class="rows lanes">
        ${q(t,({taskId:e})=>e,t=>T`<li>
            ${V(z(t,n))} <a href=${K(t.taskId)}>${t.agentId}</a>
            <span class="detail">${t.provider}</span> ${Un(e,t,n)}
          </li>`)}
      </ul>
    </section>`}#A(e){return e.length===0?D:T`<section aria-labelledby="files">
      <h2 id="files">Files <span class="hint">${e.length}${e.length===200?`+`:``}</span></h2>
      <ul class="rows">
        ${e.map(e=>T`<li>
            <code>${R(e.path)}</code> <span class="detail">${ct(e.bytes)}</span>
            <button @click=${()=>this.#b(e)} aria-label="Download ${e.path}">Download</button>
          </li>`)}
      </ul>
    </section>`}};function sr({message:e,fields:t}){return T`<section aria-labelledby="request">
    <h2 id="request">Request</h2>
    ${typeof e==`string`?Y(e):D}
    <details><summary>All fields</summary>${Y(t)}</details>
  </section>`}customElements.define(`bridge-task`,or);function cr(){let e=/* @__PURE__ */ new Map,t=[],n=[],r=0,i=[];function a(){let e=r;return i.push(e),e}function o(e){i.splice(i.indexOf(e),1);for(let{number:t,event:r}of n)t>=e&&s(r);let t=Math.min(...i,r);n=n.filter(({number:e})=>e>=t)}function s(t){let n=e.get(t.taskId);n!==void 0&&e.set(t.taskId,lr(n,t))}return{list:()=>t.map(t=>e.get(t)),get length(){return t.length},begin:a,abandon:o,applyFirst(n,r,i){let a=new Set(r.map(({taskId:e})=>e)),s=r.at(-1)?.createdAt??``,c=i?t.filter(t=>!a.has(t)&&(e.get(t)?.createdAt??``)<=s):[],l=new Set(c);for(let n of t)!a.has(n)&&!l.has(n)&&e.delete(n);for(let t of r)e.set(t.taskId,t);t=[...a,...c],o(n)},append(n,r){t=[...t,...r.filter(({taskId:t})=>!e.has(t)).map(({taskId:e})=>e)];for(let t of r)e.set(t.taskId,t);o(n)},patch(t){let a=!1;for(let o of t)i.length>0&&n.push({number:r,event:o}),r+=1,a||=!e.has(o.taskId),s(o);return a}}}function lr(e,{type:t,timestamp:n,errorCode:r}){let i=e.state===`queued`||e.state===`running`;switch(t){case`execution.started`:return e.state===`queued`?{...e,state:`running`,startedAt:n,lastProgressAt:n,waitingOn:null,queuedBecause:null}:e;case`execution.completed`:return i?{...e,state:`completed`,finishedAt:n,waitingOn:null,queuedBecause:null}:e;case`execution.failed`:return i?{...e,state:r===`cancelled`?`cancelled`:`failed`,errorCode:r,finishedAt:n,waitingOn:null,queuedBecause:null}:e;case`tool.approval_requested`:return e.state===`running`?{...e,waitingOn:`approval`,lastProgressAt:n}:e;case`tool.approval_resolved`:return e.state===`running`?{...e,waitingOn:null,lastProgressAt:n}:e;case`callback.delivered`:return e.callback===null?e:{...e,callback:{...e.callback,state:`delivered`}};case`callback.dead`:return e.callback===null?e:{...e,callback:{...e.callback,state:`dead`}};default:return e}}const ur=matchMedia(`(max-width: 760px)`);var dr=class extends N{paintGapMs=100;#e=cr();#t=!1;#n=!1;#r=null;#i={first:0,last:0};#a=/* @__PURE__ */ new Set;#o=-1;#s=!1;#c=``;#l=null;#u;#d=()=>{};#f=0;#p=!1;#m=J(this,e=>this.#y(e));#h=()=>this.requestUpdate();connectedCallback(){super.connectedCallback(),addEventListener(`scroll`,this.#h,{passive:!0}),addEventListener(`resize`,this.#h),this.#d=this.context.feed.subscribe(e=>{if(e===null)return this.#m.refresh();this.#e.patch(e)&&(this.#u??=setTimeout(()=>this.#g(),500)),this.requestUpdate()})}disconnectedCallback(){super.disconnectedCallback(),removeEventListener(`scroll`,this.#h),removeEventListener(`resize`,this.#h),clearTimeout(this.#u),this.#d()}willUpdate(e){let t=e.get(`route`);t!==void 0&&t.query.toString()!==this.route.query.toString()&&(this.#e=cr(),this.#f+=1,this.#p=!1,this.#r=null,this.#t=!1,this.#a.clear(),this.#o=-1,this.#m.refresh())}#g(){this.#u=void 0,this.#m.refresh()}#_(){return[{name:`q`,label:`Title contains`,values:null},{name:`state`,label:`State`,values:[`queued`,`running`,`completed`,`failed`,`cancelled`]},{name:`provider`,label:`Adapter`,values:this.context.attention.state.adapters.map(({provider:e})=>e)},{name:`agentId`,label:`Agent`,values:null},{name:`errorCode`,label:`Error code`,values:null},{name:`callback`,label:`Callback`,values:[`pending`,`delivered`,`dead`]},{name:`idPrefix`,label:`Id starts with`,values:null},{name:`parentTaskId`,label:`Parent task`,values:null},{name:`root`,label:`Child tasks`,values:[[`*`,`none`]]},{name:`createdAfter`,label:`Created after`,values:`time`},{name:`createdBefore`,label:`Created before`,values:`time`}]}#v(){return Object.fromEntries(this.#_().map(({name:e})=>[e,this.route.query.get(e)??``]))}async#y(e){let t=this.#e,n=this.#f,r=t.begin();try{let i=await this.context.api.list(`/api/v2/tasks`,{...this.#v(),limit:100},{signal:e}),a=t.length===0;return t.applyFirst(r,i.data,i.meta.nextCursor!==null),this.#p||=n===this.#f,n===this.#f&&(a||this.#r===null||t.length<=i.data.length)&&(this.#r=i.meta.nextCursor,this.#t=i.meta.nextCursor!==null),!0}catch(e){throw t.abandon(r),e}}async#b(){if(this.#n||this.#r===null)return;this.#n=!0;let e=this.#e,t=e.begin();try{let n={...this.#v(),limit:200,cursor:this.#r},r=await this.context.api.list(`/api/v2/tasks`,n);e.append(t,r.data),e===this.#e&&(this.#r=r.meta.nextCursor,this.#t=this.#r!==null)}catch(n){e.abandon(t),this.#l=n instanceof P?n:null}finally{this.#n=!1,this.requestUpdate()}}#x(e,t){let n=new URLSearchParams(this.route.query);t===``?n.delete(e):n.set(e,t);let r=n.toString();Et(G(r===``?`tasks`:`tasks?${r}`),{replace:!0})}onKey(e){let t=this.#e.list();if(e===`/`)return this.querySelector(`.filters input`)?.focus(),!0;if((e===`j`||e===`k`)&&t.length>0)return this.#o=Math.min(t.length-1,Math.max(0,this.#o+(e===`j`?1:-1))),this.#S(),!0;let n=t[this.#o];return e===`x`&&n!==void 0&&(this.#C(n.taskId),!0)}async#S(){let e=this.querySelector(`.window`);if(e===null)return;let t=fr(),n=e.getBoundingClientRect().top+this.#o*t;n<0?scrollBy(0,n-t):n+t>innerHeight&&scrollBy(0,n+2*t-innerHeight),this.requestUpdate(),await this.updateComplete,this.querySelector(`[data-index="${this.#o}"] a`)?.focus({preventScroll:!0})}#C(e){this.#a.delete(e)||this.#a.add(e),this.#s=!1,this.requestUpdate()}async#w(){let e=[...this.#a];this.#s=!1,this.#c=`Canceling ${e.length} …`,this.requestUpdate();let t=[],n=async()=>{for(let n=e.pop();n!==void 0;n=e.pop()){let e=`/api/v2/tasks/${encodeURIComponent(n)}/cancel`,r=n;await this.context.api.call(e,{method:`POST`}).catch(e=>t.push(`${r}: ${String(e)}`))}},r=e.length;await Promise.all(Array.from({length:4},n)),this.#a.clear(),this.#c=t.length===0?`Cancellation requested for ${r} tasks.`:t.join(`; `),this.#m.refresh(),this.requestUpdate()}updated(){let e=this.querySelector(`.window`),t=this.querySelector(`.visible`);if(e===null||t===null)return;let n=`${this.#e.length*fr()}px`;e.style.height!==n&&(e.style.height=n),t.style.transform=`translateY(${this.#i.first*fr()}px)`,this.#t&&this.#i.last+60>this.#e.length&&this.#b()}#T(){let e=this.querySelector(`.window`)?.getBoundingClientRect().top??0,t=Math.max(0,Math.floor(-e/fr())-10);return{first:t,last:Math.min(this.#e.length,t+Math.ceil(innerHeight/fr())+20)}}render(){let e=Date.now();this.#i=this.#T();let{first:t,last:n}=this.#i,r=this.#e.list().slice(t,n);return T`
      <h1>Tasks</h1>
      <search class="filters">${this.#_().map(e=>this.#D(e))}</search>
      ${W(this.#m.error??this.#l)} ${this.#O()}
      ${this.#e.length===0?this.#A():D}
      <div role="table" aria-label="Tasks" aria-rowcount=${this.#t?-1:this.#e.length+1} ?hidden=${this.#e.length===0}>
        <div role="rowgroup">
          <div role="row" class="task-row heading" aria-rowindex="1">
            ${[`Select`,`State`,`Task`,`Agent`,`Adapter`,`Cost`,`Callback`,`Last event`,`Created`].map(e=>T`<span role="columnheader">${e}</span>`)}
          </div>
        </div>
        <div role="rowgroup" class="window">
          <div class="visible" role="presentation">
            ${q(r,({taskId:e})=>e,(n,r)=>this.#E(n,t+r,e))}
          </div>
        </div>
      </div>
      ${this.#t?T`<p class="hint">${this.#e.length} tasks loaded. Scroll down for more.</p>`:D}
    `}#E(e,t,n){return T`<div role="row" class="task-row" aria-rowindex=${t+2} data-index=${t}>
      <span role="cell"
        ><input
          type="checkbox" aria-label="Select ${e.taskId}" .checked=${ln(this.#a.has(e.taskId))}
          ?disabled=${B(e)} @change=${()=>this.#C(e.taskId)}
      /></span>
      <span role="cell" title=${e.errorCode??D}>${V(z(e,n))}</span>
      <span role="cell" class="name"><a href=${K(e.taskId)}>${R(e.title??``)} <span class="detail">${e.taskId}</span></a></span>
      <span role="cell">${e.agentId}</span>
      <span role="cell">${e.provider}</span>
      <span role="cell" class="number">${B(e)?ot(e.costUsd):D}</span>
      <span role="cell">${_t(e.callback)}</span>
      <span role="cell" class="number">${U(e.lastProgressAt,n)}</span>
      <span role="cell" class="number">${U(e.createdAt,n)}</span>
    </div>`}#D({name:e,label:t,values:n}){let r=this.route.query.get(e)??``,i=t=>this.#x(e,t.target.value.trim()),a=t=>this.#x(e,at(t.target.value));if(n===null)return T`<label>${t} <input .value=${r} @change=${i} spellcheck="false" autocomplete="off" /></label>`;if(n===`time`)return T`<label>${t} <input type="datetime-local" .value=${it(r)} @change=${a} /></label>`;let o=n.map(e=>typeof e==`string`?[e,e]:e),s=r===``||o.some(([e])=>e===r);return T`<label
      >${t}
      <select @change=${i}>
        <option value="" ?selected=${r===``}>all</option>
        ${(s?o:[...o,[r,r]]).map(([e,t])=>T`<option value=${e} ?selected=${e===r}>${t}</option>`)}
      </select></label
    >`}#O(){let e=this.#a.size,t=this.#c===``?D:T`<p class="note info" role="status">${this.#c}</p>`;if(e===0||!this.context.identity.scopes.includes(`dispatch`))return t;let n=T`<button class="danger" @click=${()=>this.#k(!0)}>Cancel ${e} ${e===1?`task`:`tasks`}</button>`,r=T`<span>Cancel ${e} and all of their child tasks?</span>
      <button class="danger" @click=${()=>this.#w()}>Yes, cancel</button>
      <button @click=${()=>this.#k(!1)}>No</button>`;return T`<div class="selection">${this.#s?r:n}</div>
      ${t}`}#k(e){this.#s=e,this.requestUpdate()}#A(){return!this.#p||this.#t?this.#m.error===null?T`<p role="status">Loading …</p>`:D:Object.values(this.#v()).some(e=>e!==``)?T`<p class="empty">No task matches. <a href=${G(`tasks`)}>Clear the filters</a></p>`:T`<p class="empty">No tasks yet. <a href=${G(`new`)}>Dispatch one</a></p>`}};const fr=()=>ur.matches?82:34;customElements.define(`bridge-tasks`,dr);const pr=3600,mr=[`24h`,`7d`,`30d`,`90d`,`365d`],hr=[`agent`,`provider`,`model`,`label`,`day`,`hour`],gr={agent:`Agent`,provider:`Adapter`,model:`Model`,label:`Label`,day:`Day (UTC)`,hour:`Hour`};var _r=class extends N{#e=-1;#t=[];#n=()=>{};#r=matchMedia(`(prefers-color-scheme: dark)`);#i=()=>void this.#c();#a=J(this,e=>this.#s(e),{intervalMs:()=>15e3});connectedCallback(){super.connectedCallback(),this.#r.addEventListener(`change`,this.#i)}disconnectedCallback(){super.disconnectedCallback(),this.#r.removeEventListener(`change`,this.#i),this.#n()}#o(){let{query:e}=this.route,t=mr.find(t=>t===e.get(`window`))??`24h`,n=hr.find(t=>t===e.get(`by`))??`agent`,r=On.find(t=>t===e.get(`show`))??`tasks`;return{window:t,by:n===`hour`&&(t===`90d`||t===`365d`)?`day`:n,show:r}}async#s(e){let t=this.#o(),{window:n,by:r}=t,i=t=>this.context.api.call(`/api/v2/stats?window=${n}&by=${t}&limit=50`,{signal:e}),a=n===`24h`?`hour`:`day`,[o,s]=await Promise.all([i(r),r===a?null:i(a)]);return{choice:t,table:o,chart:s??o}}updated(){let{value:e}=this.#a,t=this.#o();e!==void 0&&(e.choice.window!==t.window||e.choice.by!==t.by?this.#a.refresh():(this.#t[0]!==e||this.#t[1]!==t.show)&&(this.#t=[e,t.show],this.#c()))}async#c(){let e=await import(`./usage-chart-iYQQlyUL.js`).catch(()=>null),t=this.querySelector(`.chart`),n=this.#a.value?.chart;if(this.#n(),this.#n=()=>{},!this.isConnected||e===null||t===null||n===void 0)return;let{show:r}=this.#o(),i=e=>getComputedStyle(this.querySelector(e)??t).color;this.#n=e.drawBars(t,{times:n.data.map(({key:e})=>Date.parse(e??``)/1e3),stepSeconds:n.by===`hour`?pr:24*pr,parts:kn[r].map(({kind:e,read:t})=>({color:i(`.swatch.${e}`),values:n.data.map(t)})),color:getComputedStyle(t).color,lineColor:getComputedStyle(t).borderTopColor,isUtc:n.by===`day`,format:r===`cost`?ot:st})}onKey(e){if(e!==`j`&&e!==`k`)return!1;let t=this.querySelectorAll(`tbody a`);return this.#e=Math.min(t.length-1,Math.max(0,this.#e+(e===`j`?1:-1))),t[this.#e]?.focus(),!0}render(){let e=this.#o(),{value:t,error:n}=this.#a,r=t?.choice.window===e.window&&t.choice.by===e.by?t:void 0;return T`
      <h1>Usage</h1>
      ${this.#l(`Window`,`window`,mr,e=>e)}
      ${this.#l(`Group by`,`by`,hr,e=>gr[e])}
      ${W(n)} ${r===void 0?T`<p role="status">Loading …</p>`:this.#u(r,e)}
    `}#l(e,t,n,r){let i=this.#o(),a=e=>G(`usage?${new URLSearchParams({...i,[t]:e})}`);return T`<nav class="tabs" aria-label=${e}>
      <span class="detail">${e}</span>
      ${n.map(e=>T`<a class="tab" href=${a(e)} aria-current=${i[t]===e?`true`:D}>${r(e)}</a>`)}
    </nav>`}#u({table:e},{show:t}){let{total:n}=e;return n.tasks===0?T`<p class="empty">No task ended in this window. <a href=${G(`new`)}>Dispatch one</a>, or choose a longer window.</p>`:T`
      ${vr(n)} ${n.tasksWithoutCost===0?D:br(n)}
      ${this.#l(`Chart`,`show`,On,e=>e)}
      <div aria-hidden="true">
        <p class="legend">${kn[t].map(({kind:e,label:t})=>T`<span class="swatch ${e}">■</span> ${t} `)}</p>
        <div class="chart"></div>
      </div>
      ${xr(e)}
    `}};const vr=e=>T`
  <dl class="facts">
    ${yr(`Cost`,wn(e))}
    ${yr(`Input tokens`,Tn(e.inputTokens,e))}
    ${yr(`Output tokens`,Tn(e.outputTokens,e))}
    ${yr(`Tasks`,`${e.tasks}: ${e.completed} completed, ${e.failed} failed, ${e.cancelled} canceled`)}
  </dl>
`,yr=(e,t)=>T`<div><dt>${e}</dt><dd>${t}</dd></div>`,br=({tasks:e,tasksWithoutCost:t})=>T`
  <p class="note info">
    The cost of ${t} of ${e} tasks is unknown, shown as <code>?</code>: their runtimes reported none. Where Bridge calls a
    model itself, set its price in <code>BRIDGE_MODEL_PRICES</code>, for example
    <code>{"my-model":{"input":3,"output":15}}</code> in US dollars per million tokens. The price applies to tasks that end after the restart.
  </p>
`;function xr({by:e,data:t,other:n}){let r=[gr[e],`Tasks`,`Completed`,`Failed`,`Canceled`,`Input tokens`,`Cached`,`Output tokens`,`Run time`,`Cost`],i=e===`hour`||e===`day`?t.filter(({tasks:e})=>e>0).toReversed():t;return T`
    <div class="scroll" tabindex="0" role="region" aria-label="Usage by ${gr[e]}">
      <table class="usage">
        <thead>
          <tr>${r.map(e=>T`<th scope="col">${e}</th>`)}</tr>
        </thead>
        <tbody>
          ${i.map(t=>Sr(Cr(e,t),t))}
          ${n===null?D:Sr(`all others`,n)}
        </tbody>
      </table>
    </div>
    ${e===`label`?T`<p class="hint">A task with several labels is in several rows.</p>`:D}
    ${i.length===0&&n===null?T`<p class="empty">No task in this window has a label.</p>`:D}
  `}const Sr=(e,t)=>T`
  <tr>
    <th scope="row">${e}</th>
    <td>${t.tasks}</td>
    <td>${t.completed}</td>
    <td>${t.failed}</td>
    <td>${t.cancelled}</td>
    <td>${Tn(t.inputTokens,t)}</td>
    <td>${Tn(t.cacheReadTokens,t)}</td>
    <td>${Tn(t.outputTokens,t)}</td>
    <td>${I(t.durationMs)}</td>
    <td>${wn(t)}</td>
  </tr>
`;function Cr(e,{key:t}){return t===null?`?`:e===`hour`?L(t,Date.now()):e===`day`?t.slice(0,10):e===`agent`?T`<a href=${G(`tasks?${new URLSearchParams({agentId:t})}`)}>${t}</a>`:e===`provider`?T`<a href=${G(`tasks?${new URLSearchParams({provider:t})}`)}>${t}</a>`:R(t)}customElements.define(`bridge-usage`,_r);const wr=[`dead`,`pending`,`delivered`];var Tr=class extends N{#e=``;#t=-1;#n=null;#r=J(this,async e=>(await this.context.api.list(`/api/v2/webhooks`,{limit:100},{signal:e})).data);#i=J(this,e=>this.#s(e));#a(){this.#r.refresh(),this.#i.refresh()}#o(){let{query:e}=this.route;return{name:e.get(`name`)??``,state:wr.find(t=>t===e.get(`state`))??`dead`}}async#s(e){let{name:t,state:n}=this.#o();if(this.#n=JSON.stringify({name:t,state:n}),t===``)return null;let r=`/api/v2/webhooks/${encodeURIComponent(t)}/deliveries`;return{...await this.context.api.list(r,{state:n,limit:100},{signal:e}),name:t,state:n}}updated(){this.#n!==null&&this.#n!==JSON.stringify(this.#o())&&this.#i.refresh()}#c(e){let{name:t,state:n}=this.#o();return e?.name===t?e.state===n:t===``}onKey(e){if(e!==`j`&&e!==`k`)return!1;let t=this.querySelectorAll(`.webhook a, .delivery button`);return this.#t=Math.min(t.length-1,Math.max(0,this.#t+(e===`j`?1:-1))),t[this.#t]?.focus(),!0}async#l(e,t){let n=`/api/v2/webhooks/${encodeURIComponent(e)}/deliveries/${encodeURIComponent(t)}/redeliver`;this.#e=await this.context.api.call(n,{method:`POST`}).then(()=>`Redelivery started.`,e=>e instanceof P?e.message:String(e)),this.context.attention.refresh(),this.#a(),this.requestUpdate()}render(){let{value:e,error:t}=this.#r;return T`
      <h1>Webhooks</h1>
      ${W(t)} ${this.#e===``?D:T`<p class="note info" role="status">${this.#e}</p>`}
      ${e===void 0?t===null?T`<p role="status">Loading …</p>`:D:this.#u(e)}
      ${this.#o().name===``?D:this.#d()}
    `}#u(e){if(e.length===0)return Or();let{name:t}=this.#o();return T`<ul class="rows">
      ${e.map(({name:e,origin:n,types:r,filter:i,pending:a,dead:o})=>T`<li class="webhook">
          <a href=${G(`webhooks?name=${encodeURIComponent(e)}`)} aria-current=${e===t?`true`:D}>${e}</a>
          <span>${n}</span>
          <span class="detail">${r.join(`, `)}${Dr(i)}</span>
          ${Er(`pending`,a)} ${Er(`dead`,o)}
        </li>`)}
    </ul>`}#d(){let{name:e,state:t}=this.#o(),{value:n,error:r}=this.#i,i=t=>G(`webhooks?name=${encodeURIComponent(e)}&state=${t}`);return T`<section aria-labelledby="deliveries">
      <h2 id="deliveries">Deliveries to ${R(e)}</h2>
      <p class="tabs">
        ${wr.map(e=>T`<a class="tab" href=${i(e)} aria-current=${e===t?`page`:D}>${e}</a>`)}
      </p>
      ${W(r)}
      ${this.#c(n)&&n?this.#f(n):r===null?T`<p role="status">Loading …</p>`:D}
    </section>`}#f({name:e,state:t,data:n,meta:r}){if(n.length===0)return T`<p class="empty">No delivery is ${t}.</p>`;let i=Date.now();return T`<ul class="rows">
        ${q(n,({deliveryId:e})=>e,t=>this.#p(e,t,i))}
      </ul>
      ${r.nextCursor===null?D:T`<p class="hint">The ${100} latest are shown.</p>`}`}#p(e,t,n){let{deliveryId:r,type:i,taskId:a,state:o,updatedAt:s}=t,c=o===`dead`&&this.context.identity.scopes.includes(`dispatch`);return T`<li class="delivery">
      ${_t(t)} <code>${i}</code> ${a===null?D:T`<a href=${K(a)}>${a}</a>`}
      <span class="detail">${rn(t,n)}</span>
      ${U(s,n)}
      ${c?T`<button @click=${()=>this.#l(e,r)} aria-label="Redeliver ${i}${a===null?``:` of ${a}`}">
              Redeliver
            </button>`:D}
    </li>`}};const Er=(e,t)=>T`<span class="badge ${t===0?``:`callback-${e}`}">${t} ${e}</span>`;function Dr({agentId:e,provider:t,labels:n={}}){let r=Object.entries({agent:e,adapter:t,...n}).filter(([,e])=>e!==void 0);return r.length===0?``:` · ${r.map(([e,t])=>`${e}=${t}`).join(`, `)}`}const Or=()=>T`
  <p class="empty">
    Your tenant has no webhooks. A webhook notifies another system of approvals, ends of tasks and dead callbacks. The operator lists webhooks in
    the file that <code>BRIDGE_WEBHOOKS_FILE</code> names, as docs/webhooks.md describes:
  </p>
  <pre tabindex="0"><code>[
  {
    "name": "oncall",
    "url": "https://notify.example.com/bridge",
    "secrets": ["whsec_&lt;24 to 64 random bytes in base64&gt;"],
    "tenant": "default"
  }
]</code></pre>
`;customElements.define(`bridge-webhooks`,Tr);function kr({api:e,feed:t}){let n=/* @__PURE__ */ new Set,r=new AbortController,i={approvals:[],deadCallbacks:[],hasMoreDead:!1,webhooks:[],adapters:[],error:null,isLoaded:!1},a,o=!1,s=!1;async function c(){if(o){s=!0;return}o=!0,s=!1;let{signal:t}=r;try{let[n,r,a,o]=await Promise.all([e.list(`/api/v2/approvals`,{state:`pending`,limit:200},{signal:t}),e.list(`/api/v2/callbacks`,{state:`dead`,limit:200},{signal:t}),e.list(`/api/v2/webhooks`,{limit:100},{signal:t}),e.list(`/api/v2/adapters`,{limit:200},{signal:t})]);i={approvals:n.data.toReversed(),deadCallbacks:r.data,hasMoreDead:r.meta.nextCursor!==null,webhooks:a.data.filter(e=>e.dead>0),adapters:o.data,error:null,isLoaded:!0}}catch(e){if(t.aborted)return;i={...i,error:e instanceof P?e:new P(0,`unexpected`,String(e))}}finally{o=!1}if(!t.aborted){for(let e of n)e();l(s?0:document.hidden?2e4:5e3)}}function l(e){clearTimeout(a),a=setTimeout(()=>void c(),e)}let u=t.subscribe(e=>{(e?.some(({type:e})=>e.startsWith(`tool.approval`)||e.startsWith(`callback.`))??!0)&&l(100)}),d=()=>{document.hidden||l(0)};return document.addEventListener(`visibilitychange`,d),c(),{get state(){return i},subscribe(e){return n.add(e),()=>void n.delete(e)},refresh:()=>l(0),close(){r.abort(),clearTimeout(a),u(),n.clear(),document.removeEventListener(`visibilitychange`,d)}}}function Ar({retryDelayMs:e,patienceMs:t}){let n=null,r=0;return{async wait(i,a){n??=performance.now();let o=Math.min(e*2**r,e*20),s=Math.max(o*(.5+Math.random()/2),i.retryAfterMs??0);if(performance.now()-n+s>t)throw i;r+=1,await jr(s,a)},reset(){n=null,r=0}}}function jr(e,t){return new Promise((n,r)=>{let i=()=>{clearTimeout(a),r(t?.reason)},a=setTimeout(()=>{t?.removeEventListener(`abort`,i),n()},e);t?.aborted===!0?i():t?.addEventListener(`abort`,i,{once:!0})})}var Q=class extends Error{name=`BridgeClientError`;code;status;requestId;errors;retryAfterMs;queue;constructor(e,t,n={}){super(t,{cause:n.cause}),this.code=e,this.status=n.status??null,this.requestId=n.requestId??null,this.errors=n.errors??[],this.retryAfterMs=n.retryAfterMs??null,this.queue=n.queue??null}};async function Mr(e){let{status:t,headers:n}=e,r=await e.text(),i=Nr(r),a=Number(n.get(`retry-after`)??NaN);return new Q(i?.code??`unexpected_answer`,i?.detail??`HTTP ${t}: ${r.slice(0,200)}`,{status:t,requestId:i?.requestId??n.get(`x-request-id`),errors:i?.errors,queue:i?.queue,retryAfterMs:Number.isFinite(a)?a*1e3:null})}function Nr(e){try{let t=JSON.parse(e);return typeof t==`object`&&t&&`code`in t&&typeof t.code==`string`?t:null}catch{return null}}async function Pr({baseUrl:e,getToken:t,fetch:n,silenceMs:r},{path:i,method:a=`GET`,headers:o,body:s,content:c,waitMs:l=0,signal:u}){u?.throwIfAborted();let d=e+i.slice(1);if(new URL(d).href!==d)throw new Q(`not_found`,`An id or a path must not be . or .., or contain one of them between slashes.`);let f=c===void 0?s===void 0?void 0:`application/json`:`application/octet-stream`,p=new Headers({...o,...f!==void 0&&{"content-type":f}});p.set(`authorization`,`Bearer ${Fr(await t())}`);let m=new AbortController,h=()=>m.abort(u?.reason);u?.addEventListener(`abort`,h);async function g(t){let n=r+l,i=setTimeout(()=>m.abort(/* @__PURE__ */ Error(`no data received for ${n/1e3} s`)),n);try{return await t}catch(t){throw u?.throwIfAborted(),new Q(`unreachable`,`Cannot reach Bridge at ${e}: ${Ir(t)}`,{cause:t})}finally{clearTimeout(i)}}function _(){u?.removeEventListener(`abort`,h),m.abort()}try{let e=await g(n(d,{method:a,headers:p,body:c??(s===void 0?null:JSON.stringify(s)),signal:m.signal}));if(!e.ok)throw await g(Mr(e));return{response:e,receive:g,close:_}}catch(e){throw _(),e}}function Fr(e){if(/^[\x20-\x7e]*$/.test(e.trim()))return e.trim();throw TypeError(`The token contains characters that are not allowed in a header.`)}function Ir(e){return e instanceof Error?e.cause instanceof Error&&e.cause.message!==``?e.cause.message:e.message:String(e)}var Lr=class extends Error{constructor(e,t){super(e),this.name=`ParseError`,this.type=t.type,this.field=t.field,this.value=t.value,this.line=t.line}};function Rr(e){if(typeof e==`function`)throw TypeError("`config` must be an object, got a function instead. Did you mean `createParser({onEvent: fn})`?");let{maxBufferSize:t,onComment:n,onError:r,onEvent:i,onId:a,onRetry:o}=e,s=[],c=0,l=``,u,d=``,f=0,p,m=!1,h=!1,g=!1;function _(e){if(m)throw Error("Cannot feed parser: it was terminated after exceeding the configured max buffer size. Call `reset()` to resume parsing.");if(l!==void 0){if(e=l+e,e===``||e===`ï`||e===`ï»`){l=e;return}l=void 0,e=e.replace(/^(?:\uFEFF|\xEF\xBB\xBF)/,``)}if((h||g)&&(e=v(e),!e))return;if(!s.length){let t=b(e);t!==``&&ee(t),y();return}if(e.indexOf(`
`)===-1&&e.indexOf(`\r`)===-1){if(c<6&&!te(s.join(``)+e.slice(0,6-c))){s.length=0,c=0,h=!0;return}s.push(e),c+=e.length,y();return}s.push(e);let t=s.join(``);s.length=0,c=0,ee(b(t)),y()}function v(e){if(e.length===0)return e;if(g)return g=!1,e.charCodeAt(0)===10?e.slice(1):e;let t=e.indexOf(`\r`),n=e.indexOf(`
`),r=t===-1?n:n===-1||t<n?t:n;return r===-1?``:r===e.length-1&&e.charCodeAt(r)===13?(h=!1,g=!0,``):(h=!1,e.slice(r+(e.charCodeAt(r)===13&&e.charCodeAt(r+1)===10?2:1)))}function ee(e){if(e){if(e.charCodeAt(e.length-1)===13){if(x(e,0,e.length-1),y())return;g=!0}else te(e)?(s.push(e),c=e.length):h=!0}}function te(e){let t=e.charCodeAt(0);return t===58&&!!n||t===100&&Vr(e,`data`)||t===101&&Vr(e,`event`)||t===105&&Vr(e,`id`)||t===114&&Vr(e,`retry`)}function y(){return m?!0:t===void 0||c+d.length<=t?!1:(m=!0,s.length=0,c=0,u=void 0,d=``,f=0,p=void 0,h=!1,g=!1,r?.(new Lr(`Buffered data exceeded max buffer size of ${t} characters`,{type:`max-buffer-size-exceeded`})),!0)}function b(e){let t=0;if(e.indexOf(`\r`)===-1){let n=e.indexOf(`
`,t);for(;n!==-1;){if(t===n){u!==void 0&&a?.(u),f>0&&i?.({id:u,event:p,data:d}),u=void 0,d=``,f=0,p=void 0,t=n+1,n=e.indexOf(`
`,t);continue}let r=e.charCodeAt(t);if(zr(e,t,r)){let r=e.charCodeAt(t+5)===32?t+6:t+5,o=e.slice(r,n);if(f===0&&e.charCodeAt(n+1)===10){u!==void 0&&a?.(u),i?.({id:u,event:p,data:o}),u=void 0,d=``,p=void 0,t=n+2,n=e.indexOf(`
`,t);continue}d=f===0?o:`${d}\n${o}`,f++}else Br(e,t,r)?p=e.slice(e.charCodeAt(t+6)===32?t+7:t+6,n)||void 0:x(e,t,n);if(y())return``;t=n+1,n=e.indexOf(`
`,t)}return e.slice(t)}let n=e.indexOf(`\r`,t),r=e.indexOf(`
`,t);for(;t<e.length;){let i=-1;if(n!==-1&&r!==-1?i=n<r?n:r:n===-1?r!==-1&&(i=r):i=n===e.length-1?-1:n,i===-1)break;if(x(e,t,i),y())return``;t=i+1,e.charCodeAt(t-1)===13&&e.charCodeAt(t)===10&&t++,n!==-1&&n<t&&(n=e.indexOf(`\r`,t)),r!==-1&&r<t&&(r=e.indexOf(`
`,t))}return e.slice(t)}function x(e,t,r){if(t===r){re();return}let i=e.charCodeAt(t);if(zr(e,t,i)){let n=e.charCodeAt(t+5)===32?t+6:t+5,i=e.slice(n,r);d=f===0?i:`${d}\n${i}`,f++;return}if(Br(e,t,i)){p=e.slice(e.charCodeAt(t+6)===32?t+7:t+6,r)||void 0;return}if(i===105&&e.charCodeAt(t+1)===100&&e.charCodeAt(t+2)===58){let n=e.slice(e.charCodeAt(t+3)===32?t+4:t+3,r);n.includes(`\0`)||(u=n);return}if(i===58){if(n){let i=e.slice(t,r);n(i.slice(e.charCodeAt(t+1)===32?2:1))}return}let a=e.slice(t,r),o=a.indexOf(`:`);if(o===-1){ne(a,``,a);return}let s=a.slice(0,o),c=a.charCodeAt(o+1)===32?2:1;ne(s,a.slice(o+c),a)}function ne(e,t,n){switch(e){case`event`:p=t||void 0;break;case`data`:d=f===0?t:`${d}\n${t}`,f++;break;case`id`:t.includes(`\0`)||(u=t);break;case`retry`:/^\d+$/.test(t)?o?.(parseInt(t,10)):r?.(new Lr(`Invalid \`retry\` value: "${t}"`,{type:`invalid-retry`,value:t,line:n}));break;default:r?.(new Lr(`Unknown field "${e.length>20?`${e.slice(0,20)}…`:e}"`,{type:`unknown-field`,field:e,value:t,line:n}))}}function re(){u!==void 0&&a?.(u),f>0&&i?.({id:u,event:p,data:d}),u=void 0,d=``,f=0,p=void 0}function ie(e={}){if(e.consume&&s.length>0){let e=s.join(``);x(e,0,e.length)}l=``,u=void 0,d=``,f=0,p=void 0,s.length=0,c=0,m=!1,h=!1,g=!1}return{feed:_,reset:ie}}function zr(e,t,n){return n===100&&e.charCodeAt(t+1)===97&&e.charCodeAt(t+2)===116&&e.charCodeAt(t+3)===97&&e.charCodeAt(t+4)===58}function Br(e,t,n){return n===101&&e.charCodeAt(t+1)===118&&e.charCodeAt(t+2)===101&&e.charCodeAt(t+3)===110&&e.charCodeAt(t+4)===116&&e.charCodeAt(t+5)===58}function Vr(e,t){let n=1;for(;n<e.length&&n<t.length;){if(e.charCodeAt(n)!==t.charCodeAt(n))return!1;n++}return e.length<=t.length||e.charCodeAt(t.length)===58}async function*Hr({response:e,receive:t,close:n}){try{if(e.body===null)return;let n=e.body.pipeThrough(new TextDecoderStream).getReader();for(;;){let e=await t(n.read());if(e.done)return;yield e.value}}finally{n()}}async function*Ur(e){let t=[],n=Rr({onId:e=>void t.push({id:e}),onEvent:({event:e=`message`,data:n})=>void t.push({event:e,data:n})});for await(let r of Hr(e))n.feed(r),yield t,t=[]}const Wr=({status:e,code:t})=>(e===429||e===503)&&t!==`adapter_offline`,Gr=({status:e,code:t})=>t===`unreachable`||t===`too_slow`||e===502||e===504;function Kr(e,t){return e instanceof Q&&(Wr(e)||t&&Gr(e))}async function qr(e,{isRepeatable:t,signal:n,...r}){let i=Ar(r);for(;;)try{return await e()}catch(e){if(!Kr(e,t))throw e;await i.wait(e,n)}}async function*Jr(e,{after:t,signal:n,onGap:r},i){let a=Yr(e),o=Ar(i),s=t;for(;;){let t;try{let c=await Pr(i,{path:a,headers:{accept:`text/event-stream`,...s!==void 0&&{"last-event-id":s}},signal:n});if(c.response.status===204)return c.close();Xr(c);for await(let t of Ur(c)){o.reset();for(let n of t)if(`id`in n)s=n.id;else if(n.event===`stream.gap`)Zr(JSON.parse(n.data),r);else if(!n.event.startsWith(`stream.`)){let t=JSON.parse(n.data);if(yield t,typeof e==`string`&&Qr(t))return}}t=new Q(`unreachable`,`Bridge ended the event stream.`)}catch(e){if(!Kr(e,!0))throw e;t=e}await o.wait(t,n)}}function Yr(e){if(typeof e==`string`)return`/api/v2/tasks/${encodeURIComponent(e)}/events`;let{types:t,...n}=e,r=Object.entries({...n,types:t?.join(`,`)}).filter(([,e])=>e!==void 0);return r.length===0?`/api/events`:`/api/events?${new URLSearchParams(r)}`}function Xr({response:{status:e,headers:t},close:n}){let r=t.get(`content-type`)??`no content type`;if(r.startsWith(`text/event-stream`))return;n();let i=t.get(`x-request-id`);throw new Q(`unexpected_answer`,`HTTP ${e}: expected an event stream, got ${r}.`,{status:e,requestId:i})}function Zr(e,t){if(t===void 0)throw new Q(`stream_gap`,"Events after `after` have been deleted. Set onGap to continue with the oldest stored event.");t(e)}const Qr=({type:e})=>e===`execution.completed`||e===`execution.failed`;function $r({response:e,receive:t,close:n}){let r=e.body?.getReader();async function i(e){try{let n=r&&await t(r.read());if(n?.value!==void 0)return e.enqueue(n.value)}catch(e){throw n(),e}n(),e.close()}return new Response(new ReadableStream({pull:i,cancel:n},{highWaterMark:0}),e)}async function ei(e){let t=``;for await(let n of Hr(e))t+=n;try{return JSON.parse(t)}catch(n){let{status:r,headers:i}=e.response,a=i.get(`x-request-id`);throw new Q(`unexpected_answer`,`HTTP ${r}: ${t.slice(0,200)}`,{status:r,requestId:a,cause:n})}}function ti(e){function t(t,{isRepeatable:n=!0,...r},i=e=>e){return qr(async()=>{let n=await Pr(e,{path:t,...r});return i(await ei(n),n.response.headers)},{...e,isRepeatable:n,signal:r.signal})}async function*n(e,n,{signal:r}){let i=new URLSearchParams(Object.entries(n).filter(([,e])=>e!==void 0));for(;;){let n=await t(`${e}?${i}`,{signal:r});if(yield n,n.meta.nextCursor===null)return;i.set(`cursor`,n.meta.nextCursor)}}return{send:t,sendForStatus(t,n){return qr(async()=>{let{response:n,close:r}=await Pr(e,t);return r(),n},{...e,isRepeatable:n,signal:t.signal})},async sendForBytes(t){return $r(await qr(()=>Pr(e,t),{...e,isRepeatable:!0,signal:t.signal}))},fetchPages:n,async*list(e,t,r){for await(let{data:i}of n(e,t,r))yield*i}}}function ni(e){let{url:t,token:n,getToken:r,patienceMs:i=12e4,retryDelayMs:a=500,silenceMs:o=31e3}=e,s={baseUrl:ai(t),getToken:r??(()=>n),fetch:e.fetch??((e,t)=>fetch(e,t)),silenceMs:o,retryDelayMs:a,patienceMs:i},{send:c,sendForStatus:l,sendForBytes:u,fetchPages:d,list:f}=ti(s),p={dispatch:(e,{signal:t}={})=>c(`/api/v2/dispatch`,{method:`POST`,body:{...e,taskId:e.taskId??li()},signal:t},(e,t)=>({...e,replayed:t.get(`idempotent-replayed`)===`true`})),async run(e,t){let{taskId:n}=await p.dispatch(e,t);return p.waitForTask(n,t)},checkDispatch:(e,{signal:t}={})=>c(`/api/v2/dispatch/check`,{method:`POST`,body:e,signal:t}),getTask:(e,{waitSeconds:t=0,signal:n}={})=>t<=0?c($(e),{signal:n}):c($(e),{headers:{prefer:`wait=${Math.ceil(t)}`},waitMs:t*1e3,signal:n}),getTaskRequest:(e,{signal:t}={})=>c(`${$(e)}/request`,{signal:t}),async deleteTask(e,{signal:t}={}){await l({path:$(e),method:`DELETE`,signal:t},!1)},async waitForTask(e,{signal:t}={}){let n=await p.getTask(e,{signal:t});if(ci(n.state))return n;for await(let n of p.events(e,{signal:t,onGap:()=>{}}));return p.getTask(e,{signal:t})},listTasks:(e={},t={})=>f(`/api/v2/tasks`,e,t),cancel:(e,{signal:t}={})=>c(`${$(e)}/cancel`,{method:`POST`,signal:t}),events:(e={},t={})=>Jr(e,t,s),...ri({send:c,sendForStatus:l}),listAdapters:(e={})=>f(`/api/v2/adapters`,{},e),checkAdapter:(e,{signal:t}={})=>c(`/api/v2/adapters/${encodeURIComponent(e)}/check`,{method:`POST`,waitMs:3e4,signal:t}),listAgents:(e={})=>f(`/api/v2/agents`,{},e),getStats:({window:e=`24h`,by:t=`agent`,limit:n=20}={},{signal:r}={})=>c(`/api/v2/stats?window=${e}&by=${t}&limit=${n}`,{signal:r}),getServiceInfo:({signal:e}={})=>c(`/`,{headers:{accept:`application/json`},signal:e}),workspaces:{list:(e={})=>f(`/api/v2/workspaces`,{},e),async putFile(e,t,n,{ifMatch:r,mustBeNew:i=!1,signal:a}={}){let o={...r!==void 0&&{"if-match":r},...i&&{"if-none-match":`*`}},s=r===void 0&&!i,c=await l({path:si(e,t),method:`PUT`,headers:o,content:n,signal:a},s);return{isNew:c.status===201,etag:c.headers.get(`etag`)??``}},async deleteFile(e,t,{ifMatch:n,signal:r}={}){let i=n===void 0?{}:{"if-match":n};await l({path:si(e,t),method:`DELETE`,headers:i,signal:r},!1)}},files:{async list(e,t={}){let n=[],r=!1;for await(let{data:i,meta:a}of d(`${$(e)}/files`,{},t))n.push(...i),r||=a.truncated===!0;return{files:n,truncated:r}},async download(e,t,{signal:n}={}){return u({path:`${$(e)}/files/${oi(t)}`,signal:n})},diff:(e,{signal:t}={})=>c(`${$(e)}/diff`,{waitMs:3e4,signal:t})},approvals:{list:(e={},t={})=>f(`/api/v2/approvals`,e,t),decide:(e,t,n,{signal:r}={})=>c(`/api/v2/approvals/${encodeURIComponent(e)}`,{method:`POST`,body:{decision:t,reason:n},signal:r,isRepeatable:!1})},callbacks:ii({send:c,list:f}),webhooks:{list:(e={})=>f(`/api/v2/webhooks`,{},e),listDeliveries:(e,t={},n={})=>f(`/api/v2/webhooks/${encodeURIComponent(e)}/deliveries`,t,n),redeliver:(e,t,{signal:n}={})=>c(`/api/v2/webhooks/${encodeURIComponent(e)}/deliveries/${encodeURIComponent(t)}/redeliver`,{method:`POST`,signal:n,isRepeatable:!1})}};return p}function ri({send:e,sendForStatus:t}){return{createTicket:({scopes:t}={},{signal:n}={})=>e(`/api/v2/events/ticket`,{method:`POST`,body:{scopes:t},signal:n}),createSignInLink:({signal:t}={})=>e(`/api/v2/sessions/link`,{method:`POST`,signal:t}),createSession:(t,{signal:n}={})=>e(`/api/v2/sessions`,{method:`POST`,body:{ticket:t},signal:n,isRepeatable:!1}),async deleteSession({signal:e}={}){await t({path:`/api/v2/sessions/current`,method:`DELETE`,signal:e},!1)},getIdentity:({signal:t}={})=>e(`/api/v2/me`,{signal:t})}}function ii({send:e,list:t}){return{list:(e={},n={})=>t(`/api/v2/callbacks`,e,n),get:(t,{signal:n}={})=>e(`/api/v2/callbacks/${encodeURIComponent(t)}`,{signal:n}),redeliver:(t,{signal:n}={})=>e(`/api/v2/callbacks/${encodeURIComponent(t)}/redeliver`,{method:`POST`,signal:n,isRepeatable:!1}),async redeliverAll(t,{signal:n}={}){let r=0,i;do{let a=await e(`/api/v2/callbacks/redeliver`,{method:`POST`,body:{origin:t,cursor:i},signal:n,isRepeatable:!1});r+=a.redelivered,i=a.nextCursor??void 0}while(i!==void 0);return r}}}function ai(e){let{href:t,protocol:n,username:r,password:i,search:a,hash:o}=new URL(e);if(!/^https?:$/.test(n)||r+i+a+o!==``)throw TypeError("`url` must be an http or https URL without credentials, query or fragment.");return t.replace(/\/*$/,`/`)}const oi=e=>e.split(`/`).map(encodeURIComponent).join(`/`),si=(e,t)=>`/api/v2/workspaces/${encodeURIComponent(e)}/files/${oi(t)}`,$=e=>`/api/v2/tasks/${encodeURIComponent(e)}`,ci=e=>e!==`queued`&&e!==`running`,li=()=>Array.from(crypto.getRandomValues(/* @__PURE__ */ new Uint8Array(16)),e=>e.toString(16).padStart(2,`0`)).join(``),ui=[`execution.started`,`execution.completed`,`execution.failed`,`tool.approval_requested`,`tool.approval_resolved`,`callback.delivered`,`callback.dead`];function di(e,t){let n=ni({url:Ye,token:e,retryDelayMs:150,patienceMs:2**53-1}),r=/* @__PURE__ */ new Set,i=null,a=null,o,s=[],c,l,u=e=>{for(let t of r)t(e)};function d(e){u(e),a?.postMessage({events:e,lastId:o})}function f(){c=void 0;let e=s;s=[],d(e)}async function p(e){let t=()=>d(null),r=o===void 0?{signal:e,onGap:t}:{signal:e,onGap:t,after:o};for await(let e of n.events({types:ui},r))o=e.id,s.push(pi(e)),c??=setTimeout(f,50)}async function m(t){let{signal:n}=t;try{let t=await fi(e);if(n.throwIfAborted(),t===null)return await p(n);a=new BroadcastChannel(t),a.onmessage=({data:e})=>{o=e.lastId,u(e.events)},await navigator.locks.request(t,{signal:n},()=>p(n))}catch(e){if(n.aborted)return;if(e instanceof Q&&e.status===401)return await h(t);console.error(`The event stream failed.`,e)}}async function h(e){a?.close(),a=null;let n=await t();await new Promise(e=>setTimeout(e,150)),n&&!e.signal.aborted&&await m(e)}function g(){i===null&&(i=new AbortController,m(i))}function _(){i?.abort(),i=null,a?.close(),a=null}function v(){clearTimeout(l),document.hidden?l=setTimeout(_,6e4):i===null&&(g(),u(null))}return document.addEventListener(`visibilitychange`,v),g(),{subscribe(e){return r.add(e),()=>void r.delete(e)},followTask:(e,t)=>n.events(e,t),close(){document.removeEventListener(`visibilitychange`,v),clearTimeout(l),clearTimeout(c),r.clear(),_()}}}async function fi(e){if(!isSecureContext)return null;let t=await crypto.subtle.digest(`SHA-256`,new TextEncoder().encode(`bridge stream ${e}`));return`bridge-${Array.from(new Uint8Array(t),e=>e.toString(16).padStart(2,`0`)).join(``)}`}function pi({type:e,taskId:t,agentId:n,provider:r,timestamp:i,data:a}){let{errorCode:o=null,approvalId:s=null}=a;return{type:e,taskId:t,agentId:n,provider:r,timestamp:i,errorCode:o,approvalId:s}}function mi(){let{hash:e,pathname:t,search:n}=location;return e.startsWith(`#t=`)?(history.replaceState(history.state,``,t+n),e.slice(3)):null}async function hi(e){let t={method:`POST`,body:{ticket:e}};return(await Xe(null,()=>{}).call(`/api/v2/sessions`,t)).token}const gi=`bridge.token`;function _i(e){let t={kind:`signed-out`,reason:null},n=()=>{},r=0;function i(n){t=n,e()}function a(){return n(),n=()=>{},r+=1,r}function o(e){a(),sessionStorage.removeItem(gi),localStorage.removeItem(gi),i({kind:`signed-out`,reason:e})}async function s(e){let t=a();i({kind:`checking`});let n=async()=>{let n=await yi(e).then(e=>e===null,()=>!1);return n&&r===t&&o(`Bridge no longer accepts this token. It has expired or was withdrawn. Sign in with another one.`),!n},s=Xe(e,()=>void n());for(;r===t;)try{let i=await s.call(`/api/v2/me`);r===t&&c({identity:i,api:s,token:e},n);return}catch(e){if(r!==t)return;e instanceof P&&e.status===401||i({kind:`unreachable`,detail:Si(e)}),await new Promise(e=>setTimeout(e,1e3))}}function c(e,t){let r=di(e.token,t),a=kr({api:e.api,feed:r});n=()=>{a.close(),r.close()},i({kind:`signed-in`,context:{...e,feed:r,attention:a}})}function l(e){sessionStorage.setItem(gi,e),s(e)}async function u(e){let t=a();i({kind:`checking`});let o=xi();try{let a=await hi(e),s=()=>vi(Xe(a,()=>{})),[c,u]=await Promise.all([yi(a),o===null?null:yi(o)]);if(r!==t)return s();if(c===null||u===null||bi(c,u))return l(a);n=s,i({kind:`confirming`,present:u,offered:c,accept:()=>{n=()=>{},l(a)},decline:d})}catch(e){if(r!==t)return;o===null?i({kind:`signed-out`,reason:Si(e)}):d()}}function d(){let e=xi();e===null?i({kind:`signed-out`,reason:null}):s(e)}function f(){let e=mi();return e!==null&&u(e),e!==null}return{get state(){return t},resume(){f()||d()},followLink:f,signIn(e,{remember:t}){t&&localStorage.setItem(gi,e),l(e)},signOut(){t.kind===`signed-in`&&t.context.token.startsWith(`ses_`)&&vi(t.context.api),o(null)}}}function vi(e){e.call(`/api/v2/sessions/current`,{method:`DELETE`}).catch(()=>{})}async function yi(e){try{return await Xe(e,()=>{}).call(`/api/v2/me`)}catch(e){if(e instanceof P&&e.status===401)return null;throw e}}const bi=(e,t)=>e.name===t.name&&e.tenant===t.tenant,xi=()=>sessionStorage.getItem(gi)??localStorage.getItem(gi),Si=e=>e instanceof P?e.message:String(e),Ci={overview:`Overview`,tasks:`Tasks`,task:`Task`,new:`New task`,approvals:`Approvals`,callbacks:`Callbacks`,webhooks:`Webhooks`,adapters:`Adapters`,usage:`Usage`,missing:`Not found`},wi=[{page:`overview`,path:``},{page:`tasks`,path:`tasks`},{page:`approvals`,path:`approvals`},{page:`callbacks`,path:`callbacks`},{page:`webhooks`,path:`webhooks`},{page:`adapters`,path:`adapters`},{page:`usage`,path:`usage`},{page:`new`,path:`new`}];var Ti=class extends M{#e=_i(()=>this.#i());#t=Rt();#n=Tt();#r=()=>{};connectedCallback(){super.connectedCallback(),addEventListener(`popstate`,()=>this.#o()),addEventListener(`hashchange`,()=>this.#e.followLink()),addEventListener(`click`,e=>this.#s(e)),addEventListener(`keydown`,e=>this.#c(e)),this.#e.resume()}#i(){let{state:e}=this.#e;this.#r(),this.#t.reset(),this.#r=e.kind===`signed-in`?e.context.attention.subscribe(()=>this.#a()):()=>{},e.kind===`signed-in`?this.#a():this.#t.update(`Sign in`,[]),this.requestUpdate()}#a(){let{state:e}=this.#e;if(e.kind!==`signed-in`)return;let t=this.#n.page===`task`?this.#n.id:Ci[this.#n.page];this.#t.update(t,e.context.attention.state.approvals),this.requestUpdate()}#o(){this.#e.followLink();let e=this.#n;this.#n=Tt(),this.#a(),(e.page!==this.#n.page||e.id!==this.#n.id)&&(scrollTo(0,0),this.updateComplete.then(()=>this.querySelector(`main`)?.focus({preventScroll:!0})))}#s(e){let t=Dt(e);t!==null&&this.#e.state.kind===`signed-in`&&(e.preventDefault(),Et(t))}#c(e){if(e.ctrlKey||e.metaKey||e.altKey||ki(e))return;let t=this.querySelector(`dialog.help`);e.key===`?`&&t!==null?(e.preventDefault(),t.open?t.close():t.showModal()):document.querySelector(`dialog[open]`)===null&&this.querySelector(`[data-page]`)?.onKey(e.key)===!0&&e.preventDefault()}render(){let{state:e}=this.#e;switch(e.kind){case`signed-out`:return T`<bridge-sign-in
          .reason=${e.reason}
          .onSignIn=${(e,t)=>this.#e.signIn(e,t)}
        ></bridge-sign-in>`;case`checking`:return T`<main class="sign-in"><p role="status">Signing in …</p></main>`;case`unreachable`:return T`<main class="sign-in">
          <h1>Bridge</h1>
          <p class="note error" role="alert">${e.detail}</p>
          <p role="status">Trying again …</p>
          <button @click=${()=>this.#e.signOut()}>Sign out</button>
        </main>`;case`confirming`:return Ei(e);case`signed-in`:return this.#l(e.context)}}#l(e){let{identity:t,attention:n}=e,{page:r,id:i}=this.#n;return T`
      <a class="skip" href="#main" @click=${e=>this.#f(e)}>Skip to the content</a>
      <header>
        <a class="brand" href=${G(``)}>Bridge</a>
        <nav aria-label="Pages">${wi.map(t=>this.#u(t,e))}</nav>
        <span class="who">
          ${Oi(n.state.error)?T`<span class="connection lost" role="status">reconnecting …</span>`:T`<span class="connection" role="status">live</span>`}
          <span title="Tenant ${t.tenant}">${t.name}</span>
          <button @click=${()=>this.#e.signOut()}>Sign out</button>
        </span>
      </header>
      <main id="main" tabindex="-1">${qe(`${r}/${i}`,this.#d(e))}</main>
      ${ji()}
    `}#u({page:e,path:t},{attention:n}){let{approvals:r,deadCallbacks:i,webhooks:a}=n.state,o={approvals:r.length,callbacks:i.length,webhooks:Di(a)}[e]??0,s=this.#n.page===e||this.#n.page===`task`&&e===`tasks`;return T`<a href=${G(t)} aria-current=${s?`page`:D}
      >${Ci[e]}${o===0?D:T` <span class="count">${o}</span>`}</a
    >`}#d(e){let t=this.#n;switch(t.page){case`overview`:return T`<bridge-overview data-page .context=${e} .route=${t}></bridge-overview>`;case`new`:return T`<bridge-new data-page .context=${e} .route=${t}></bridge-new>`;case`approvals`:return T`<bridge-approvals data-page .context=${e} .route=${t}></bridge-approvals>`;case`callbacks`:return T`<bridge-callbacks data-page .context=${e} .route=${t}></bridge-callbacks>`;case`webhooks`:return T`<bridge-webhooks data-page .context=${e} .route=${t}></bridge-webhooks>`;case`adapters`:return T`<bridge-adapters data-page .context=${e} .route=${t}></bridge-adapters>`;case`usage`:return T`<bridge-usage data-page .context=${e} .route=${t}></bridge-usage>`;case`tasks`:return T`<bridge-tasks data-page .context=${e} .route=${t}></bridge-tasks>`;case`task`:return T`<bridge-task data-page .context=${e} .route=${t}></bridge-task>`;default:return T`<h1>Not found</h1>
          <p>The console has no such page. <a href=${G(``)}>Overview</a></p>`}}#f(e){e.preventDefault(),this.querySelector(`#main`)?.focus()}};const Ei=({present:e,offered:t,accept:n,decline:r})=>T`
  <main class="sign-in">
    <h1>Bridge</h1>
    <p role="alert">
      You are signed in as ${e.name} (tenant ${e.tenant}). Sign in as ${t.name} (tenant ${t.tenant})?
    </p>
    <p class="hint">Continue only if you created this link or expected it.</p>
    <button class="primary" @click=${r}>Stay signed in as ${e.name}</button>
    <button @click=${n}>Sign in as ${t.name}</button>
  </main>
`,Di=e=>e.reduce((e,{dead:t})=>e+t,0),Oi=e=>e!==null&&(e.status===0||e.status>=500);function ki(e){let[t]=e.composedPath();return t instanceof HTMLElement&&t.matches(`input:not([type=checkbox]), textarea, select, [contenteditable]`)}const Ai=[[`/`,`search or filter`],[`j, k`,`next or previous row`],[`Enter`,`open the row`],[`x`,`select the row`],[`a, r`,`approve or reject`],[`?`,`this help`]],ji=()=>T`
  <dialog class="help" aria-labelledby="help-title">
    <h2 id="help-title">Keys</h2>
    <dl>${Ai.map(([e,t])=>T`<dt><kbd>${e}</kbd></dt><dd>${t}</dd>`)}</dl>
    <form method="dialog" @submit=${Mi}><button>Close</button></form>
  </dialog>
`;function Mi(e){e.preventDefault(),e.target.closest(`dialog`)?.close()}customElements.define(`bridge-app`,Ti);