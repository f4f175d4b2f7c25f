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
const ne=globalThis,re=e=>e,ie=ne.trustedTypes,ae=ie?ie.createPolicy(`lit-html`,{createHTML:e=>e}):void 0,oe=`$lit$`,x=`lit$${Math.random().toFixed(9).slice(2)}$`,se=`?`+x,ce=`<${se}>`,le=document,ue=()=>le.createComment(``),de=e=>e===null||typeof e!=`object`&&typeof e!=`function`,fe=Array.isArray,pe=e=>fe(e)||typeof e?.[Symbol.iterator]==`function`,me=`[ 	
\f\r]`,he=/<(?:(!--|\/[^a-zA-Z])|(\/?[a-zA-Z][^>\s]*)|(\/?$))/g,ge=/-->/g,_e=/>/g,S=RegExp(`>|${me}(?:([^\\s"'>=/]+)(${me}*=${me}*(?:[^ \t\n\f\r"'\`<>=]|("|')|))|$)`,`g`),ve=/'/g,ye=/"/g,be=/^(?:script|style|textarea|title)$/i,C=(e=>(t,...n)=>({_$litType$:e,strings:t,values:n}))(1),w=Symbol.for(`lit-noChange`),T=Symbol.for(`lit-nothing`),xe=/* @__PURE__ */ new WeakMap,E=le.createTreeWalker(le,129);function Se(e,t){if(!fe(e)||!e.hasOwnProperty(`raw`))throw Error(`invalid template strings array`);return ae===void 0?t:ae.createHTML(t)}const Ce=(e,t)=>{let n=e.length-1,r=[],i,a=t===2?`<svg>`:t===3?`<math>`:``,o=he;for(let t=0;t<n;t++){let n=e[t],s,c,l=-1,u=0;for(;u<n.length&&(o.lastIndex=u,c=o.exec(n),c!==null);)u=o.lastIndex,o===he?c[1]===`!--`?o=ge:c[1]===void 0?c[2]===void 0?c[3]!==void 0&&(o=S):(be.test(c[2])&&(i=RegExp(`</`+c[2],`g`)),o=S):o=_e:o===S?c[0]===`>`?(o=i??he,l=-1):c[1]===void 0?l=-2:(l=o.lastIndex-c[2].length,s=c[1],o=c[3]===void 0?S:c[3]===`"`?ye:ve):o===ye||o===ve?o=S:o===ge||o===_e?o=he:(o=S,i=void 0);let d=o===S&&e[t+1].startsWith(`/>`)?` `:``;a+=o===he?n+ce:l>=0?(r.push(s),n.slice(0,l)+oe+n.slice(l)+x+d):n+x+(l===-2?t:d)}return[Se(e,a+(e[n]||`<?>`)+(t===2?`</svg>`:t===3?`</math>`:``)),r]};var we=class e{constructor({strings:t,_$litType$:n},r){let i;this.parts=[];let a=0,o=0,s=t.length-1,c=this.parts,[l,u]=Ce(t,n);if(this.el=e.createElement(l,r),E.currentNode=this.el.content,n===2||n===3){let e=this.el.content.firstChild;e.replaceWith(...e.childNodes)}for(;(i=E.nextNode())!==null&&c.length<s;){if(i.nodeType===1){if(i.hasAttributes())for(let e of i.getAttributeNames())if(e.endsWith(oe)){let t=u[o++],n=i.getAttribute(e).split(x),r=/([.?@])?(.*)/.exec(t);c.push({type:1,index:a,name:r[2],strings:n,ctor:r[1]===`.`?Oe:r[1]===`?`?ke:r[1]===`@`?Ae:De}),i.removeAttribute(e)}else e.startsWith(x)&&(c.push({type:6,index:a}),i.removeAttribute(e));if(be.test(i.tagName)){let e=i.textContent.split(x),t=e.length-1;if(t>0){i.textContent=ie?ie.emptyScript:``;for(let n=0;n<t;n++)i.append(e[n],ue()),E.nextNode(),c.push({type:2,index:++a});i.append(e[t],ue())}}}else if(i.nodeType===8){if(i.data===se)c.push({type:2,index:a});else{let e=-1;for(;(e=i.data.indexOf(x,e+1))!==-1;)c.push({type:7,index:a}),e+=x.length-1}}a++}}static createElement(e,t){let n=le.createElement(`template`);return n.innerHTML=e,n}};function D(e,t,n=e,r){if(t===w)return t;let i=r===void 0?n._$Cl:n._$Co?.[r],a=de(t)?void 0:t._$litDirective$;return i?.constructor!==a&&(i?._$AO?.(!1),a===void 0?i=void 0:(i=new a(e),i._$AT(e,n,r)),r===void 0?n._$Cl=i:(n._$Co??=[])[r]=i),i!==void 0&&(t=D(e,i._$AS(e,t.values),i,r)),t}var Te=class{constructor(e,t){this._$AV=[],this._$AN=void 0,this._$AD=e,this._$AM=t}get parentNode(){return this._$AM.parentNode}get _$AU(){return this._$AM._$AU}u(e){let{el:{content:t},parts:n}=this._$AD,r=(e?.creationScope??le).importNode(t,!0);E.currentNode=r;let i=E.nextNode(),a=0,o=0,s=n[0];for(;s!==void 0;){if(a===s.index){let t;s.type===2?t=new Ee(i,i.nextSibling,this,e):s.type===1?t=new s.ctor(i,s.name,s.strings,this,e):s.type===6&&(t=new je(i,this,e)),this._$AV.push(t),s=n[++o]}a!==s?.index&&(i=E.nextNode(),a++)}return E.currentNode=le,r}p(e){let t=0;for(let n of this._$AV)n!==void 0&&(n.strings===void 0?n._$AI(e[t]):(n._$AI(e,n,t),t+=n.strings.length-2)),t++}},Ee=class e{get _$AU(){return this._$AM?._$AU??this._$Cv}constructor(e,t,n,r){this.type=2,this._$AH=T,this._$AN=void 0,this._$AA=e,this._$AB=t,this._$AM=n,this.options=r,this._$Cv=r?.isConnected??!0}get parentNode(){let e=this._$AA.parentNode,t=this._$AM;return t!==void 0&&e?.nodeType===11&&(e=t.parentNode),e}get startNode(){return this._$AA}get endNode(){return this._$AB}_$AI(e,t=this){e=D(this,e,t),de(e)?e===T||e==null||e===``?(this._$AH!==T&&this._$AR(),this._$AH=T):e!==this._$AH&&e!==w&&this._(e):e._$litType$===void 0?e.nodeType===void 0?pe(e)?this.k(e):this._(e):this.T(e):this.$(e)}O(e){return this._$AA.parentNode.insertBefore(e,this._$AB)}T(e){this._$AH!==e&&(this._$AR(),this._$AH=this.O(e))}_(e){this._$AH!==T&&de(this._$AH)?this._$AA.nextSibling.data=e:this.T(le.createTextNode(e)),this._$AH=e}$(e){let{values:t,_$litType$:n}=e,r=typeof n==`number`?this._$AC(e):(n.el===void 0&&(n.el=we.createElement(Se(n.h,n.h[0]),this.options)),n);if(this._$AH?._$AD===r)this._$AH.p(t);else{let e=new Te(r,this),n=e.u(this.options);e.p(t),this.T(n),this._$AH=e}}_$AC(e){let t=xe.get(e.strings);return t===void 0&&xe.set(e.strings,t=new we(e)),t}k(t){fe(this._$AH)||(this._$AH=[],this._$AR());let n=this._$AH,r,i=0;for(let a of t)i===n.length?n.push(r=new e(this.O(ue()),this.O(ue()),this,this.options)):r=n[i],r._$AI(a),i++;i<n.length&&(this._$AR(r&&r._$AB.nextSibling,i),n.length=i)}_$AR(e=this._$AA.nextSibling,t){for(this._$AP?.(!1,!0,t);e!==this._$AB;){let t=re(e).nextSibling;re(e).remove(),e=t}}setConnected(e){this._$AM===void 0&&(this._$Cv=e,this._$AP?.(e))}},De=class{get tagName(){return this.element.tagName}get _$AU(){return this._$AM._$AU}constructor(e,t,n,r,i){this.type=1,this._$AH=T,this._$AN=void 0,this.element=e,this.name=t,this._$AM=r,this.options=i,n.length>2||n[0]!==``||n[1]!==``?(this._$AH=Array(n.length-1).fill(/* @__PURE__ */ new String),this.strings=n):this._$AH=T}_$AI(e,t=this,n,r){let i=this.strings,a=!1;if(i===void 0)e=D(this,e,t,0),a=!de(e)||e!==this._$AH&&e!==w,a&&(this._$AH=e);else{let r=e,o,s;for(e=i[0],o=0;o<i.length-1;o++)s=D(this,r[n+o],t,o),s===w&&(s=this._$AH[o]),a||=!de(s)||s!==this._$AH[o],s===T?e=T:e!==T&&(e+=(s??``)+i[o+1]),this._$AH[o]=s}a&&!r&&this.j(e)}j(e){e===T?this.element.removeAttribute(this.name):this.element.setAttribute(this.name,e??``)}},Oe=class extends De{constructor(){super(...arguments),this.type=3}j(e){this.element[this.name]=e===T?void 0:e}},ke=class extends De{constructor(){super(...arguments),this.type=4}j(e){this.element.toggleAttribute(this.name,!!e&&e!==T)}},Ae=class extends De{constructor(e,t,n,r,i){super(e,t,n,r,i),this.type=5}_$AI(e,t=this){if((e=D(this,e,t,0)??T)===w)return;let n=this._$AH,r=e===T&&n!==T||e.capture!==n.capture||e.once!==n.once||e.passive!==n.passive,i=e!==T&&(n===T||r);r&&this.element.removeEventListener(this.name,this,n),i&&this.element.addEventListener(this.name,this,e),this._$AH=e}handleEvent(e){typeof this._$AH==`function`?this._$AH.call(this.options?.host??this.element,e):this._$AH.handleEvent(e)}},je=class{constructor(e,t,n){this.element=e,this.type=6,this._$AN=void 0,this._$AM=t,this.options=n}get _$AU(){return this._$AM._$AU}_$AI(e){D(this,e)}};const Me={M:oe,P:x,A:se,C:1,L:Ce,R:Te,D:pe,V:D,I:Ee,H:De,N:ke,U:Ae,B:Oe,F:je},Ne=ne.litHtmlPolyfillSupport;Ne?.(we,Ee),(ne.litHtmlVersions??=[]).push(`3.3.3`);const Pe=(e,t,n)=>{let r=n?.renderBefore??t,i=r._$litPart$;if(i===void 0){let e=n?.renderBefore??null;r._$litPart$=i=new Ee(t.insertBefore(ue(),e),e,void 0,n??{})}return i._$AI(e),i},Fe=globalThis
/**
* @license
* Copyright 2017 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/
;var Ie=class extends b{constructor(){super(...arguments),this.renderOptions={host:this},this._$Do=void 0}createRenderRoot(){let e=super.createRenderRoot();return this.renderOptions.renderBefore??=e.firstChild,e}update(e){let t=this.render();this.hasUpdated||(this.renderOptions.isConnected=this.isConnected),super.update(e),this._$Do=Pe(t,this.renderRoot,this.renderOptions)}connectedCallback(){super.connectedCallback(),this._$Do?.setConnected(!0)}disconnectedCallback(){super.disconnectedCallback(),this._$Do?.setConnected(!1)}render(){return w}};Ie._$litElement$=!0,Ie.finalized=!0,Fe.litElementHydrateSupport?.({LitElement:Ie});const Le=Fe.litElementPolyfillSupport;Le?.({LitElement:Ie}),(Fe.litElementVersions??=[]).push(`4.2.2`);
/**
* @license
* Copyright 2017 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/
const Re={ATTRIBUTE:1,CHILD:2,PROPERTY:3,BOOLEAN_ATTRIBUTE:4,EVENT:5,ELEMENT:6},ze=e=>(...t)=>({_$litDirective$:e,values:t});var Be=class{constructor(e){}get _$AU(){return this._$AM._$AU}_$AT(e,t,n){this._$Ct=e,this._$AM=t,this._$Ci=n}_$AS(e,t){return this.update(e,t)}update(e,t){return this.render(...t)}};
/**
* @license
* Copyright 2020 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/const{I:Ve}=Me,He=e=>e,Ue=e=>e.strings===void 0,We=()=>document.createComment(``),Ge=(e,t,n)=>{let r=e._$AA.parentNode,i=t===void 0?e._$AB:t._$AA;if(n===void 0){let t=r.insertBefore(We(),i),a=r.insertBefore(We(),i);n=new Ve(t,a,e,e.options)}else{let t=n._$AB.nextSibling,a=n._$AM,o=a!==e;if(o){let t;n._$AQ?.(e),n._$AM=e,n._$AP!==void 0&&(t=e._$AU)!==a._$AU&&n._$AP(t)}if(t!==i||o){let e=n._$AA;for(;e!==t;){let t=He(e).nextSibling;He(r).insertBefore(e,i),e=t}}}return n},Ke=(e,t,n=e)=>(e._$AI(t,n),e),qe={},Je=(e,t=qe)=>e._$AH=t,Ye=e=>e._$AH,Xe=e=>{e._$AR(),e._$AA.remove()},Ze=ze(class extends Be{constructor(){
/**
* @license
* Copyright 2021 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/
super(...arguments),this.key=T}render(e,t){return this.key=e,t}update(e,[t,n]){return t!==this.key&&(Je(e),this.key=t),n}}),Qe={xmlns:`http://www.w3.org/2000/svg`,width:24,height:24,viewBox:`0 0 24 24`,fill:`none`,stroke:`currentColor`,"stroke-width":2,"stroke-linecap":`round`,"stroke-linejoin":`round`},$e=([e,t,n])=>{
/**
* @license lucide v1.65.0 - ISC
*
* This source code is licensed under the ISC license.
* See the LICENSE file in the root directory of this source tree.
*/
/**
* @license lucide v1.65.0 - ISC
*
* This source code is licensed under the ISC license.
* See the LICENSE file in the root directory of this source tree.
*/
let r=document.createElementNS(`http://www.w3.org/2000/svg`,e);return Object.keys(t).forEach(e=>{r.setAttribute(e,String(t[e]))}),n?.length&&n.forEach(e=>{let t=$e(e);r.appendChild(t)}),r},et=(e,t={})=>{let n={...Qe,...t};return $e([`svg`,n,e])},tt=[[`path`,{d:`M10.268 21a2 2 0 0 0 3.464 0`}],[`path`,{d:`M3.262 15.326A1 1 0 0 0 4 17h16a1 1 0 0 0 .74-1.673C19.41 13.956 18 12.499 18 8A6 6 0 0 0 6 8c0 4.499-1.411 5.956-2.738 7.326`}]],nt=[[`path`,{d:`M12 7v6`}],[`path`,{d:`M15 10H9`}],[`path`,{d:`M17 3a2 2 0 0 1 2 2v15a1 1 0 0 1-1.496.868l-4.512-2.578a2 2 0 0 0-1.984 0l-4.512 2.578A1 1 0 0 1 5 20V5a2 2 0 0 1 2-2z`}]],rt=[[`path`,{d:`M8 2v3`}],[`path`,{d:`M16 2v3`}],[`rect`,{x:`3`,y:`3`,width:`18`,height:`18`,rx:`2`}],[`path`,{d:`M3 9h18`}],[`path`,{d:`M8 13h.01`}],[`path`,{d:`M12 13h.01`}],[`path`,{d:`M16 13h.01`}],[`path`,{d:`M8 17h.01`}],[`path`,{d:`M12 17h.01`}],[`path`,{d:`M16 17h.01`}]],it=[[`path`,{d:`M5 21v-6`}],[`path`,{d:`M12 21V3`}],[`path`,{d:`M19 21V9`}]],at=[[`path`,{d:`M21.801 10A10 10 0 1 1 17 3.335`}],[`path`,{d:`m9 11 3 3L22 4`}]],ot=[[`rect`,{width:`14`,height:`14`,x:`8`,y:`8`,rx:`2`,ry:`2`}],[`path`,{d:`M4 16c-1.1 0-2-.9-2-2V4c0-1.1.9-2 2-2h10c1.1 0 2 .9 2 2`}]],st=[[`circle`,{cx:`12`,cy:`12`,r:`1`}],[`circle`,{cx:`19`,cy:`12`,r:`1`}],[`circle`,{cx:`5`,cy:`12`,r:`1`}]],ct=[[`rect`,{width:`7`,height:`9`,x:`3`,y:`3`,rx:`1`}],[`rect`,{width:`7`,height:`5`,x:`14`,y:`3`,rx:`1`}],[`rect`,{width:`7`,height:`9`,x:`14`,y:`12`,rx:`1`}],[`rect`,{width:`7`,height:`5`,x:`3`,y:`16`,rx:`1`}]],lt=[[`path`,{d:`M13 5h8`}],[`path`,{d:`M13 12h8`}],[`path`,{d:`M13 19h8`}],[`path`,{d:`m3 17 2 2 4-4`}],[`path`,{d:`m3 7 2 2 4-4`}]],ut=[[`path`,{d:`M2 5h20`}],[`path`,{d:`M6 12h12`}],[`path`,{d:`M9 19h6`}]],dt=[[`path`,{d:`m16 17 5-5-5-5`}],[`path`,{d:`M21 12H9`}],[`path`,{d:`M9 21H5a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2h4`}]],ft=[[`path`,{d:`M12 22v-5`}],[`path`,{d:`M15 8V2`}],[`path`,{d:`M17 8a1 1 0 0 1 1 1v4a4 4 0 0 1-4 4h-4a4 4 0 0 1-4-4V9a1 1 0 0 1 1-1z`}],[`path`,{d:`M9 8V2`}]],pt=[[`path`,{d:`M5 12h14`}],[`path`,{d:`M12 5v14`}]],mt=[[`path`,{d:`m21 21-4.34-4.34`}],[`circle`,{cx:`11`,cy:`11`,r:`8`}]],ht=[[`path`,{d:`M14.536 21.686a.5.5 0 0 0 .937-.024l6.5-19a.496.496 0 0 0-.635-.635l-19 6.5a.5.5 0 0 0-.024.937l7.93 3.18a2 2 0 0 1 1.112 1.11z`}],[`path`,{d:`m21.854 2.147-10.94 10.939`}]],gt=[[`path`,{d:`M18 6 6 18`}],[`path`,{d:`m6 6 12 12`}]]
/**
* @license lucide v1.65.0 - ISC
*
* This source code is licensed under the ISC license.
* See the LICENSE file in the root directory of this source tree.
*/
/**
* @license lucide v1.65.0 - ISC
*
* This source code is licensed under the ISC license.
* See the LICENSE file in the root directory of this source tree.
*/
/**
* @license lucide v1.65.0 - ISC
*
* This source code is licensed under the ISC license.
* See the LICENSE file in the root directory of this source tree.
*/
/**
* @license lucide v1.65.0 - ISC
*
* This source code is licensed under the ISC license.
* See the LICENSE file in the root directory of this source tree.
*/
/**
* @license lucide v1.65.0 - ISC
*
* This source code is licensed under the ISC license.
* See the LICENSE file in the root directory of this source tree.
*/
/**
* @license lucide v1.65.0 - ISC
*
* This source code is licensed under the ISC license.
* See the LICENSE file in the root directory of this source tree.
*/
/**
* @license lucide v1.65.0 - ISC
*
* This source code is licensed under the ISC license.
* See the LICENSE file in the root directory of this source tree.
*/
/**
* @license lucide v1.65.0 - ISC
*
* This source code is licensed under the ISC license.
* See the LICENSE file in the root directory of this source tree.
*/
/**
* @license lucide v1.65.0 - ISC
*
* This source code is licensed under the ISC license.
* See the LICENSE file in the root directory of this source tree.
*/
/**
* @license lucide v1.65.0 - ISC
*
* This source code is licensed under the ISC license.
* See the LICENSE file in the root directory of this source tree.
*/
/**
* @license lucide v1.65.0 - ISC
*
* This source code is licensed under the ISC license.
* See the LICENSE file in the root directory of this source tree.
*/
/**
* @license lucide v1.65.0 - ISC
*
* This source code is licensed under the ISC license.
* See the LICENSE file in the root directory of this source tree.
*/
/**
* @license lucide v1.65.0 - ISC
*
* This source code is licensed under the ISC license.
* See the LICENSE file in the root directory of this source tree.
*/
/**
* @license lucide v1.65.0 - ISC
*
* This source code is licensed under the ISC license.
* See the LICENSE file in the root directory of this source tree.
*/
/**
* @license lucide v1.65.0 - ISC
*
* This source code is licensed under the ISC license.
* See the LICENSE file in the root directory of this source tree.
*/
/**
* @license lucide v1.65.0 - ISC
*
* This source code is licensed under the ISC license.
* See the LICENSE file in the root directory of this source tree.
*/
;var O=class extends Ie{createRenderRoot(){return this}};const _t=`bridge-task-title`;var k=class extends O{static properties={context:{attribute:!1},route:{attribute:!1}};#e=-1/0;get paintGapMs(){return 0}onKey(e,t){return!1}async scheduleUpdate(){let e=this.#e+this.paintGapMs-performance.now();this.hasUpdated&&e>0&&await new Promise(t=>setTimeout(t,e)),this.hasUpdated&&await new Promise(requestAnimationFrame),this.#e=performance.now(),await super.scheduleUpdate()}};const A=1e3,vt=60*A,yt=60*vt,bt=24*yt;function j(e){return e<A?`${Math.max(0,Math.round(e))} ms`:e<10*A?`${(e/A).toFixed(1)} s`:e<vt?`${Math.round(e/A)} s`:e<yt?St(Math.round(e/A),60,`min`,`s`):e<bt?St(Math.round(e/vt),60,`h`,`min`):St(Math.round(e/yt),24,`d`,`h`)}const xt=e=>e<vt?`${Math.max(0,Math.floor(e/A))} s`:j(e);function St(e,t,n,r){let i=e%t;return i===0?`${Math.floor(e/t)} ${n}`:`${Math.floor(e/t)} ${n} ${i} ${r}`}function Ct(e,t){if(e===null)return``;let n=t-Date.parse(e);return n<A?`now`:n<vt?`${Math.floor(n/A)} s`:n<yt?`${Math.floor(n/vt)} min`:n<bt?`${Math.floor(n/yt)} h`:`${Math.floor(n/bt)} d`}function wt(e,t){let n=Ct(e,t);return n===`now`?`just now`:`${n} ago`}const Tt=new Intl.DateTimeFormat([],{hour:`2-digit`,minute:`2-digit`,second:`2-digit`}),Et=new Intl.DateTimeFormat,Dt=new Intl.DateTimeFormat([],{dateStyle:`medium`,timeStyle:`medium`});function Ot(e,t){let n=new Date(e),r=Tt.format(n);return n.toDateString()===new Date(t).toDateString()?r:`${Et.format(n)} ${r}`}const kt=Dt.resolvedOptions().timeZone,At=e=>`${Dt.format(new Date(e))} ${kt}`,jt=1e-4;function Mt(e){let t=new Date(e);return Number.isNaN(t.getTime())?``:(/* @__PURE__ */ new Date(t.getTime()-t.getTimezoneOffset()*6e4)).toISOString().slice(0,16)}const Nt=e=>e===``?``:new Date(e).toISOString();function Pt(e){return e==null?`?`:e===0||e>=.1?`$${e.toFixed(2)}`:e<jt?`<$${jt}`:`$${e.toPrecision(2)}`}function Ft(e){if(e==null)return`?`;if(e<1e4)return String(e);let[t,n]=e<1e6?[1e3,`k`]:[1e6,`M`];return`${Number((e/t).toFixed(1))} ${n}`}function It(e){if(e<1024)return`${e} B`;let[t,n]=e<1024**2?[1024,`KiB`]:e<1024**3?[1024**2,`MiB`]:[1024**3,`GiB`];return`${Number((e/t).toFixed(1))} ${n}`}function M(e){return e.replaceAll(Lt,e=>{let t=e.codePointAt(0)??0;return t<32?String.fromCodePoint(9216+t):`⟨U+${t.toString(16).toUpperCase().padStart(4,`0`)}⟩`})}const Lt=/(?!\n|\t|\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;function Rt(e){return typeof e==`string`?e:JSON.stringify(e,null,2)??``}function N(e,t=120){let n=e.slice(0,4*t).replaceAll(/\s+/g,` `).trim();return n.length>t?`${n.slice(0,t)}…`:n}const zt=(e,t)=>`${e}${t?`+`:``}`;function Bt(e,t){let{url:n,patienceMs:r=12e4,retryDelayMs:i=500,silenceMs:a=31e3,parseJson:o=e=>JSON.parse(e)}=e;return{baseUrl:Vt(n),getToken:t,fetch:e.fetch??((e,t)=>fetch(e,t)),silenceMs:a,retryDelayMs:i,patienceMs:r,parseJson:o,contact:{hasAnswered:e.waitsForStart===!0}}}function Vt(e){let{href:t,protocol:n,username:r,password:i,search:a,hash:o}=new URL(e);if(!/^https?:$/.test(n)||r+i+a+o!==``)throw TypeError("`url` must be an http or https URL without credentials, query or fragment.");return t.replace(/\/*$/,`/`)}function Ht({retryDelayMs:e,patienceMs:t,contact:n}){let r=null,i=0;return{async wait(a,o){if(!n.hasAnswered&&Wt(a))throw a;r??=performance.now();let s=Math.min(e*2**i,e*20),c=Math.max(s*(.5+Math.random()/2),a.retryAfterMs??0);if(performance.now()-r+c>t)throw a;i+=1,await Gt(c,o)},reset(){r=null,i=0}}}const Ut=/* @__PURE__ */ new Set([`ECONNREFUSED`,`ENOTFOUND`,`EAI_AGAIN`,`EHOSTUNREACH`,`ENETUNREACH`,`UND_ERR_CONNECT_TIMEOUT`]);function Wt({code:e,cause:t}){let n=t instanceof Error?t.cause?.code:void 0;return e===`unreachable`&&typeof n==`string`&&Ut.has(n)}function Gt(e,t){return new Promise((n,r)=>{let i=()=>{clearTimeout(a),r(t?.reason)},a=setTimeout(()=>{t?.removeEventListener(`abort`,i),n()},e);t?.aborted===!0?i():t?.addEventListener(`abort`,i,{once:!0})})}var P=class extends Error{name=`BridgeClientError`;code;status;requestId;errors;retryAfterMs;queue;closeCode;constructor(e,t,n={}){super(t,{cause:n.cause}),this.code=e,this.status=n.status??null,this.requestId=n.requestId??null,this.errors=n.errors??[],this.retryAfterMs=n.retryAfterMs??null,this.queue=n.queue??null,this.closeCode=n.closeCode??null}};async function Kt(e){let{status:t,headers:n}=e,r=await e.text(),i=qt(r),a=Number(n.get(`retry-after`)??NaN);return new P(i?.code??`unexpected_answer`,i?.detail??`HTTP ${t}: ${r.slice(0,200)}`,{status:t,requestId:i?.requestId??n.get(`x-request-id`),errors:i?.errors,queue:i?.queue,retryAfterMs:Number.isFinite(a)?a*1e3:null})}function qt(e){try{let t=JSON.parse(e);return typeof t==`object`&&t&&`code`in t&&typeof t.code==`string`?t:null}catch{return null}}async function Jt({baseUrl:e,getToken:t,fetch:n,silenceMs:r,contact:i},{path:a,method:o=`GET`,headers:s,body:c,content:l,waitMs:u=0,signal:d}){d?.throwIfAborted();let f=e+a.slice(1);if(new URL(f).href!==f)throw new P(`not_found`,`An id or a path must not be . or .., or contain one of them between slashes.`);let p=l===void 0?c===void 0?void 0:`application/json`:`application/octet-stream`,m=new Headers({...s,...p!==void 0&&{"content-type":p}});m.set(`authorization`,`Bearer ${Yt(await t())}`);let h=new AbortController,g=()=>h.abort(d?.reason);d?.addEventListener(`abort`,g);async function _(t){let n=r+u,i=setTimeout(()=>h.abort(/* @__PURE__ */ Error(`no data received for ${n/1e3} s`)),n);try{return await t}catch(t){throw d?.throwIfAborted(),new P(`unreachable`,`Cannot reach Bridge at ${e}: ${Xt(t)}`,{cause:t})}finally{clearTimeout(i)}}function v(){d?.removeEventListener(`abort`,g),h.abort()}try{let e=await _(n(f,{method:o,headers:m,body:l??(c===void 0?null:JSON.stringify(c)),signal:h.signal}));if(i.hasAnswered=!0,!e.ok)throw await _(Kt(e));return{response:e,receive:_,close:v}}catch(e){throw v(),e}}function Yt(e){if(/^[\x20-\x7e]*$/.test(e.trim()))return e.trim();throw TypeError(`The token contains characters that are not allowed in a header.`)}function Xt(e){return e instanceof Error?e.cause instanceof Error&&e.cause.message!==``?e.cause.message:e.message:String(e)}const Zt=({type:e})=>e===`execution.completed`||e===`execution.failed`;var Qt=class extends Error{constructor(e,t){super(e),this.name=`ParseError`,this.type=t.type,this.field=t.field,this.value=t.value,this.line=t.line}};function $t(e){if(typeof e==`function`)throw TypeError("`config` must be an object, got a function instead. Did you mean `createParser({onEvent: fn})`?");let{maxBufferSize:t,onComment:n,onError:r,onEvent:i,onId:a,onRetry:o}=e,s=[],c=0,l=``,u,d=``,f=0,p,m=!1,h=!1,g=!1;function _(e){if(m)throw Error("Cannot feed parser: it was terminated after exceeding the configured max buffer size. Call `reset()` to resume parsing.");if(l!==void 0){if(e=l+e,e===``||e===`ï`||e===`ï»`){l=e;return}l=void 0,e=e.replace(/^(?:\uFEFF|\xEF\xBB\xBF)/,``)}if((h||g)&&(e=v(e),!e))return;if(!s.length){let t=b(e);t!==``&&ee(t),y();return}if(e.indexOf(`
`)===-1&&e.indexOf(`\r`)===-1){if(c<6&&!te(s.join(``)+e.slice(0,6-c))){s.length=0,c=0,h=!0;return}s.push(e),c+=e.length,y();return}s.push(e);let t=s.join(``);s.length=0,c=0,ee(b(t)),y()}function v(e){if(e.length===0)return e;if(g)return g=!1,e.charCodeAt(0)===10?e.slice(1):e;let t=e.indexOf(`\r`),n=e.indexOf(`
`),r=t===-1?n:n===-1||t<n?t:n;return r===-1?``:r===e.length-1&&e.charCodeAt(r)===13?(h=!1,g=!0,``):(h=!1,e.slice(r+(e.charCodeAt(r)===13&&e.charCodeAt(r+1)===10?2:1)))}function ee(e){if(e){if(e.charCodeAt(e.length-1)===13){if(ne(e,0,e.length-1),y())return;g=!0}else te(e)?(s.push(e),c=e.length):h=!0}}function te(e){let t=e.charCodeAt(0);return t===58&&!!n||t===100&&nn(e,`data`)||t===101&&nn(e,`event`)||t===105&&nn(e,`id`)||t===114&&nn(e,`retry`)}function y(){return m?!0:t===void 0||c+d.length<=t?!1:(m=!0,s.length=0,c=0,u=void 0,d=``,f=0,p=void 0,h=!1,g=!1,r?.(new Qt(`Buffered data exceeded max buffer size of ${t} characters`,{type:`max-buffer-size-exceeded`})),!0)}function b(e){let t=0;if(e.indexOf(`\r`)===-1){let n=e.indexOf(`
`,t);for(;n!==-1;){if(t===n){u!==void 0&&a?.(u),f>0&&i?.({id:u,event:p,data:d}),u=void 0,d=``,f=0,p=void 0,t=n+1,n=e.indexOf(`
`,t);continue}let r=e.charCodeAt(t);if(en(e,t,r)){let r=e.charCodeAt(t+5)===32?t+6:t+5,o=e.slice(r,n);if(f===0&&e.charCodeAt(n+1)===10){u!==void 0&&a?.(u),i?.({id:u,event:p,data:o}),u=void 0,d=``,p=void 0,t=n+2,n=e.indexOf(`
`,t);continue}d=f===0?o:`${d}\n${o}`,f++}else tn(e,t,r)?p=e.slice(e.charCodeAt(t+6)===32?t+7:t+6,n)||void 0:ne(e,t,n);if(y())return``;t=n+1,n=e.indexOf(`
`,t)}return e.slice(t)}let n=e.indexOf(`\r`,t),r=e.indexOf(`
`,t);for(;t<e.length;){let i=-1;if(n!==-1&&r!==-1?i=n<r?n:r:n===-1?r!==-1&&(i=r):i=n===e.length-1?-1:n,i===-1)break;if(ne(e,t,i),y())return``;t=i+1,e.charCodeAt(t-1)===13&&e.charCodeAt(t)===10&&t++,n!==-1&&n<t&&(n=e.indexOf(`\r`,t)),r!==-1&&r<t&&(r=e.indexOf(`
`,t))}return e.slice(t)}function ne(e,t,r){if(t===r){ie();return}let i=e.charCodeAt(t);if(en(e,t,i)){let n=e.charCodeAt(t+5)===32?t+6:t+5,i=e.slice(n,r);d=f===0?i:`${d}\n${i}`,f++;return}if(tn(e,t,i)){p=e.slice(e.charCodeAt(t+6)===32?t+7:t+6,r)||void 0;return}if(i===105&&e.charCodeAt(t+1)===100&&e.charCodeAt(t+2)===58){let n=e.slice(e.charCodeAt(t+3)===32?t+4:t+3,r);n.includes(`\0`)||(u=n);return}if(i===58){if(n){let i=e.slice(t,r);n(i.slice(e.charCodeAt(t+1)===32?2:1))}return}let a=e.slice(t,r),o=a.indexOf(`:`);if(o===-1){re(a,``,a);return}let s=a.slice(0,o),c=a.charCodeAt(o+1)===32?2:1;re(s,a.slice(o+c),a)}function re(e,t,n){switch(e){case`event`:p=t||void 0;break;case`data`:d=f===0?t:`${d}\n${t}`,f++;break;case`id`:t.includes(`\0`)||(u=t);break;case`retry`:/^\d+$/.test(t)?o?.(parseInt(t,10)):r?.(new Qt(`Invalid \`retry\` value: "${t}"`,{type:`invalid-retry`,value:t,line:n}));break;default:r?.(new Qt(`Unknown field "${e.length>20?`${e.slice(0,20)}…`:e}"`,{type:`unknown-field`,field:e,value:t,line:n}))}}function ie(){u!==void 0&&a?.(u),f>0&&i?.({id:u,event:p,data:d}),u=void 0,d=``,f=0,p=void 0}function ae(e={}){if(e.consume&&s.length>0){let e=s.join(``);ne(e,0,e.length)}l=``,u=void 0,d=``,f=0,p=void 0,s.length=0,c=0,m=!1,h=!1,g=!1}return{feed:_,reset:ae}}function en(e,t,n){return n===100&&e.charCodeAt(t+1)===97&&e.charCodeAt(t+2)===116&&e.charCodeAt(t+3)===97&&e.charCodeAt(t+4)===58}function tn(e,t,n){return n===101&&e.charCodeAt(t+1)===118&&e.charCodeAt(t+2)===101&&e.charCodeAt(t+3)===110&&e.charCodeAt(t+4)===116&&e.charCodeAt(t+5)===58}function nn(e,t){let n=1;for(;n<e.length&&n<t.length;){if(e.charCodeAt(n)!==t.charCodeAt(n))return!1;n++}return e.length<=t.length||e.charCodeAt(t.length)===58}async function*rn({response:e,receive:t,close:n}){try{if(e.body===null)return;let n=e.body.pipeThrough(new TextDecoderStream).getReader();for(;;){let e=await t(n.read());if(e.done)return;yield e.value}}finally{n()}}async function*an(e){let t=[],n=$t({onId:e=>void t.push({id:e}),onEvent:({event:e=`message`,data:n})=>void t.push({event:e,data:n})});for await(let r of rn(e))n.feed(r),yield t,t=[]}const on=({status:e,code:t})=>(e===429||e===503)&&t!==`adapter_offline`,sn=({status:e,code:t})=>t===`unreachable`||t===`too_slow`||e===502||e===504;function cn(e,t){return e instanceof P&&(on(e)||t&&sn(e))}async function ln(e,{isRepeatable:t,signal:n,...r}){let i=Ht(r);for(;;)try{return await e()}catch(e){if(!cn(e,t))throw e;await i.wait(e,n)}}async function*un(e,{after:t,signal:n,onGap:r},i){let a=dn(e),o=Ht(i),s=t;for(;;){let t;try{let c=await Jt(i,{path:a,headers:{accept:`text/event-stream`,...s!==void 0&&{"last-event-id":s}},signal:n});if(c.response.status===204)return c.close();fn(c);for await(let t of an(c)){o.reset();for(let n of t)if(`id`in n)s=n.id;else if(n.event===`stream.gap`)pn(JSON.parse(n.data),r);else if(!n.event.startsWith(`stream.`)){let t=i.parseJson(n.data);if(yield t,typeof e==`string`&&Zt(t))return}}t=new P(`unreachable`,`Bridge ended the event stream.`)}catch(e){if(!cn(e,!0))throw e;t=e}await o.wait(t,n)}}function dn(e){if(typeof e==`string`)return`/api/v2/tasks/${encodeURIComponent(e)}/events`;let{types:t,...n}=e,r=Object.entries({...n,types:t?.join(`,`)}).filter(([,e])=>e!==void 0);return r.length===0?`/api/events`:`/api/events?${new URLSearchParams(r)}`}function fn({response:{status:e,headers:t},close:n}){let r=t.get(`content-type`)??`no content type`;if(r.startsWith(`text/event-stream`))return;n();let i=t.get(`x-request-id`);throw new P(`unexpected_answer`,`HTTP ${e}: expected an event stream, got ${r}.`,{status:e,requestId:i})}function pn(e,t){if(t===void 0)throw new P(`stream_gap`,"Events after `after` have been deleted. Set onGap to continue with the oldest stored event.");t(e)}const mn=()=>Array.from(crypto.getRandomValues(/* @__PURE__ */ new Uint8Array(16)),e=>e.toString(16).padStart(2,`0`)).join(``);function hn({response:e,receive:t,close:n}){let r=e.body?.getReader();async function i(e){try{let n=r&&await t(r.read());if(n?.value!==void 0)return e.enqueue(n.value)}catch(e){throw n(),e}n(),e.close()}return new Response(new ReadableStream({pull:i,cancel:n},{highWaterMark:0}),e)}async function gn(e,t){let n=``;for await(let t of rn(e))n+=t;try{return t(n)}catch(t){let{status:r,headers:i}=e.response,a=i.get(`x-request-id`);throw new P(`unexpected_answer`,`HTTP ${r}: ${n.slice(0,200)}`,{status:r,requestId:a,cause:t})}}const _n=e=>new URLSearchParams(Object.entries(e).filter(([,e])=>e!==void 0));function vn(e){function t(t,{isRepeatable:n=!0,...r},i=e=>e){return ln(async()=>{let n=await Jt(e,{path:t,...r});return i(await gn(n,e.parseJson),n.response.headers)},{...e,isRepeatable:n,signal:r.signal})}async function*n(e,n,{signal:r}){let i=_n(n);for(;;){let n=await t(`${e}?${i}`,{signal:r});if(yield n,n.meta.nextCursor===null)return;i.set(`cursor`,n.meta.nextCursor)}}return{send:t,sendForStatus(t,n){return ln(async()=>{let{response:n,close:r}=await Jt(e,t);return r(),n},{...e,isRepeatable:n,signal:t.signal})},async sendForBytes(t){return hn(await ln(()=>Jt(e,t),{...e,isRepeatable:!0,signal:t.signal}))},fetchPages:n,async*list(e,t,r){for await(let{data:i}of n(e,t,r))yield*i}}}function yn(e){let{token:t,getToken:n}=e,r=Bt(e,n??(()=>t)),{send:i,sendForStatus:a,sendForBytes:o,fetchPages:s,list:c}=vn(r),l={dispatch:(e,{signal:t}={})=>i(`/api/v2/dispatch`,{method:`POST`,body:{...e,taskId:e.taskId??mn()},signal:t},(e,t)=>({...e,replayed:t.get(`idempotent-replayed`)===`true`})),async run(e,t){let{taskId:n}=await l.dispatch(e,t);return l.waitForTask(n,t)},checkDispatch:(e,{signal:t}={})=>i(`/api/v2/dispatch/check`,{method:`POST`,body:e,signal:t}),getTask:(e,{waitSeconds:t=0,signal:n}={})=>t<=0?i(F(e),{signal:n}):i(F(e),{headers:{prefer:`wait=${Math.ceil(t)}`},waitMs:t*1e3,signal:n}),getTaskRequest:(e,{signal:t}={})=>i(`${F(e)}/request`,{signal:t}),async deleteTask(e,{signal:t}={}){await a({path:F(e),method:`DELETE`,signal:t},!1)},async waitForTask(e,{signal:t}={}){let n=await l.getTask(e,{signal:t});if(On(n.state))return n;for await(let n of l.events(e,{signal:t,onGap:()=>{}}));return l.getTask(e,{signal:t})},listTasks:(e={},t={})=>c(`/api/v2/tasks`,e,t),cancel:(e,{signal:t}={})=>i(`${F(e)}/cancel`,{method:`POST`,signal:t}),events:(e={},t={})=>un(e,t,r),...bn({send:i,sendForStatus:a}),...xn({send:i,list:c,fetchPages:s}),listAgents:(e={})=>c(`/api/v2/agents`,{},e),getStats:(e={},{signal:t}={})=>i(`/api/v2/stats?${_n(e)}`,{signal:t}),getServiceInfo:({signal:e}={})=>i(`/`,{headers:{accept:`application/json`},signal:e}),workspaces:{list:(e={})=>c(`/api/v2/workspaces`,{},e),async putFile(e,t,n,{ifMatch:r,mustBeNew:i=!1,signal:o}={}){let s={...r!==void 0&&{"if-match":r},...i&&{"if-none-match":`*`}},c=r===void 0&&!i,l=await a({path:Dn(e,t),method:`PUT`,headers:s,content:n,signal:o},c);return{isNew:l.status===201,etag:l.headers.get(`etag`)??``}},async deleteFile(e,t,{ifMatch:n,signal:r}={}){let i=n===void 0?{}:{"if-match":n};await a({path:Dn(e,t),method:`DELETE`,headers:i,signal:r},!1)}},files:{async list(e,t={}){let n=[],r=!1;for await(let{data:i,meta:a}of s(`${F(e)}/files`,{},t))n.push(...i),r||=a.truncated===!0;return{files:n,truncated:r}},async download(e,t,{signal:n}={}){return o({path:`${F(e)}/files/${En(t)}`,signal:n})},diff:(e,{signal:t}={})=>i(`${F(e)}/diff`,{waitMs:3e4,signal:t})},approvals:{list:(e={},t={})=>c(`/api/v2/approvals`,e,t),decide:(e,t,n,{signal:r}={})=>i(`/api/v2/approvals/${encodeURIComponent(e)}`,{method:`POST`,body:{decision:t,reason:n},signal:r,isRepeatable:!1})},attention:Sn({send:i}),callbacks:Cn({send:i,list:c}),webhooks:wn({send:i,list:c})};return l}function bn({send:e,sendForStatus:t}){return{createTicket:({scopes:t}={},{signal:n}={})=>e(`/api/v2/events/ticket`,{method:`POST`,body:{scopes:t},signal:n}),createSignInLink:({signal:t}={})=>e(`/api/v2/sessions/link`,{method:`POST`,signal:t}),createSession:(t,{signal:n}={})=>e(`/api/v2/sessions`,{method:`POST`,body:{ticket:t},signal:n,isRepeatable:!1}),async deleteSession({signal:e}={}){await t({path:`/api/v2/sessions/current`,method:`DELETE`,signal:e},!1)},getIdentity:({signal:t}={})=>e(`/api/v2/me`,{signal:t})}}function xn({send:e,list:t,fetchPages:n}){return{listAdapters:(e={})=>t(`/api/v2/adapters`,{},e),checkAdapter:(t,{signal:n}={})=>e(`/api/v2/adapters/${encodeURIComponent(t)}/check`,{method:`POST`,waitMs:3e4,signal:n}),async listDomains(e,t={}){let r=[],i=null;for await(let{data:a,meta:o}of n(`/api/v2/domains`,{workspace:e},t))r.push(...a),i=o.settingsFault??null;return{domains:r,settingsFault:i}}}}function Sn({send:e}){return{list:(t={},{signal:n}={})=>e(`/api/v2/attention?${_n(t)}`,{signal:n}),async acknowledge(t,{signal:n}={}){let r=0;for(;;){let i=await e(`/api/v2/attention/acknowledge`,{method:`POST`,body:t,signal:n});if(r+=i.acknowledged,!i.hasMore)return r}}}}function Cn({send:e,list:t}){return{list:(e={},n={})=>t(`/api/v2/callbacks`,e,n),get:(t,{signal:n}={})=>e(`/api/v2/callbacks/${encodeURIComponent(t)}`,{signal:n}),redeliver:(t,{signal:n}={})=>e(`/api/v2/callbacks/${encodeURIComponent(t)}/redeliver`,{method:`POST`,signal:n,isRepeatable:!1}),redeliverAll:(t,{signal:n}={})=>Tn(e,`/api/v2/callbacks/redeliver`,{body:{origin:t},signal:n})}}function wn({send:e,list:t}){let n=e=>`/api/v2/webhooks/${encodeURIComponent(e)}`;return{list:(e={})=>t(`/api/v2/webhooks`,{},e),listDeliveries:(e,r={},i={})=>t(`${n(e)}/deliveries`,r,i),redeliver:(t,r,{signal:i}={})=>e(`${n(t)}/deliveries/${encodeURIComponent(r)}/redeliver`,{method:`POST`,signal:i,isRepeatable:!1}),redeliverAll:(t,{signal:r}={})=>Tn(e,`${n(t)}/redeliver`,{body:{},signal:r})}}async function Tn(e,t,{body:n,signal:r}){let i=0,a;do{let o=await e(t,{method:`POST`,body:{...n,cursor:a},signal:r,isRepeatable:!1});i+=o.redelivered,a=o.nextCursor??void 0}while(a!==void 0);return i}const En=e=>e.split(`/`).map(encodeURIComponent).join(`/`),Dn=(e,t)=>`/api/v2/workspaces/${encodeURIComponent(e)}/files/${En(t)}`,F=e=>`/api/v2/tasks/${encodeURIComponent(e)}`,On=e=>e!==`queued`&&e!==`running`,{rawJSON:kn}=JSON,An=e=>kn===void 0?JSON.parse(e):JSON.parse(e,jn),jn=(e,t,{source:n})=>typeof t==`number`&&n!==void 0&&String(t)!==n?kn?.(n):t,Mn={adapter_offline:{cause:`The adapter went offline while the task waited, or no node can run the task any more.`,advice:`Read the preflight of the adapter, which names what is missing. Then dispatch the task again.`,remedies:[`open_adapter`,`run_again`]},adapter_error:{cause:`The adapter failed for a reason that no other code describes.`,advice:"Read `error` and the log lines of the task. Check the adapter, then dispatch the task again.",remedies:[`open_adapter`,`run_again`]},authentication_required:{cause:`The program is not logged in, or the key is wrong.`,advice:`Set the key in the environment of Bridge, or log in with the program. Then dispatch the task again.`,remedies:[`open_adapter`,`run_again`]},user_action_required:{cause:`The runtime needs a person, for example to accept terms or to choose an account.`,advice:`Start the program once by hand as the user of Bridge, do what it asks for, and dispatch the task again.`,remedies:[`open_adapter`,`run_again`]},rate_limited:{cause:`The vendor rejects requests for now, or a usage limit is reached.`,advice:"Dispatch the task later, or lower `BRIDGE_MAX_CONCURRENT` for this adapter.",remedies:[`run_again`]},model_error:{cause:`The model failed, or it answered nothing.`,advice:"Dispatch the task again. If it fails again, read `error`, and try another `model`.",remedies:[`run_again`,`change_request`]},timeout:{cause:"The task ran longer than `timeoutSeconds`, 600 by default.",advice:"Send a larger `timeoutSeconds`, up to 86400.",remedies:[`run_longer`,`change_request`]},idle_timeout:{cause:"The runtime emitted no event for `BRIDGE_IDLE_SECONDS`, 300 by default, and no tool call was open.",advice:`Dispatch the task again. If the model is slow, raise the setting, or set it to 0 to disable the limit.`,remedies:[`run_again`]},cancelled:{cause:`A client or a person canceled the task, or its parent task ended.`,advice:`Nothing. Dispatch the task again if it is still needed.`,remedies:[`run_again`,`change_request`]},output_limit:{cause:`The runtime wrote more than Bridge stores.`,advice:`Ask for a file in the workspace instead of a long answer.`,remedies:[`change_request`]},output_invalid:{cause:"The answer does not match the output strategy, such as `outputSchema`.",advice:"Read the text in `output`. Simplify the schema, or ask for the fields in the message.",remedies:[`change_request`,`run_again`]},runtime_crashed:{cause:`The program ended without a result.`,advice:"Read `error`, which contains the end of its stderr. Run the program by hand in the workspace.",remedies:[`run_again`,`open_adapter`]},spawn_failed:{cause:`Bridge could not start the program: it is missing, not executable, or the machine has no room for it.`,advice:"Read `error`. Correct the path of the program or its permissions, or lower `BRIDGE_MAX_CONCURRENT`.",remedies:[`open_adapter`,`run_again`]},bridge_restarted:{cause:`Bridge ended while the task ran, or its node lost the PostgreSQL database for most of its lease.`,advice:'Check what the task has already done, and dispatch it again. With `"onInterrupt": "retry"`, Bridge does this once.',remedies:[`run_again`,`change_request`]},bridge_shutdown:{cause:"Bridge shut down, and the task did not end within `BRIDGE_DRAIN_SECONDS`. A task that waits for a person ends so, too.",advice:'Dispatch the task again. Raise the setting, or send `"onInterrupt": "retry"`.',remedies:[`run_again`]},max_turns:{cause:`The runtime reached its own limit of turns.`,advice:"Divide the task, or raise the limit in the settings of the runtime. A `resumeToken` continues the session.",remedies:[`change_request`]},budget_exceeded:{cause:`The runtime reached its own budget.`,advice:`Raise the budget in the settings of the runtime, or divide the task.`,remedies:[`change_request`]}},Nn=e=>Object.hasOwn(Mn,e)?Mn[e]:null,Pn=new URL(`../`,import.meta.url),Fn=new URL(`../`,Pn);let In=0;function Ln(e,t,n){let r=Date.parse(e??``);if(Number.isNaN(r))return;let[i,a]=[r-n,r+2e3-t];(In<i||In>a)&&(In=(i+a)/2)}const I=()=>Date.now()+In;var L=class extends Error{status;code;errors;constructor(e,t,n,r=[]){super(n),this.status=e,this.code=t,this.errors=r}};function Rn(e,t){async function n(n,{method:r=`GET`,body:i,headers:a,signal:o}){let s=Date.now(),c=await fetch(new URL(n.slice(1),Fn),{method:r,headers:{...a,...e!==null&&{authorization:`Bearer ${e}`},...i!==void 0&&{"content-type":`application/json`}},body:i===void 0?null:JSON.stringify(i),cache:`no-store`,signal:AbortSignal.any([AbortSignal.timeout(3e4),...o===void 0?[]:[o]])}).catch(e=>{throw o?.throwIfAborted(),new L(0,`unreachable`,`Bridge does not respond: ${e instanceof Error?e.message:String(e)}`)});if(Ln(c.headers.get(`date`),s,Date.now()),c.ok)return c;let l=await zn(c);throw l.status===401&&t(),l}async function r(e,t={}){let r=await n(e,t);return r.status===204?null:An(await r.text())}return{call:r,list(e,t,n={}){let i=Object.entries(t).flatMap(([e,t])=>t===void 0||t===``?[]:[[e,String(t)]]);return r(`${e}?${new URLSearchParams(i)}`,n)},download:async e=>(await n(e,{})).blob()}}async function zn(e){let t=await e.text().catch(()=>``);try{let{code:n,detail:r,errors:i}=JSON.parse(t);return new L(e.status,n,r,i)}catch{return new L(e.status,`unexpected_answer`,`HTTP ${e.status}: ${t.slice(0,200)}`)}}const Bn={queued:{label:`queued`,sign:`◌`},running:{label:`running`,sign:`▶`},approval:{label:`needs approval`,sign:`!`},silent:{label:`silent`,sign:`…`},completed:{label:`completed`,sign:`✓`},failed:{label:`failed`,sign:`✕`},cancelled:{label:`canceled`,sign:`⊘`}};function R(e,t){if(e.state!==`running`)return e.state;if(e.waitingOn===`approval`)return`approval`;let n=Math.max(Wn(e.startedAt),Wn(e.lastProgressAt));return e.waitingOn===`runtime`||n>0&&t-n>3e4?`silent`:`running`}const Vn={slot:`waits for a free slot of the adapter`,session:`waits for the end of the task that uses its resume token`,quota:`waits, because the tenant or the agent has its maximum of running tasks`,node:`waits for a running node that has the adapter, or for the node of the agent`,tag:`waits for a running node with the tags of the request`},Hn=e=>e.queuedBecause===null?``:Vn[e.queuedBecause]??`waits: ${e.queuedBecause}`,Un=({state:e,errorCode:t})=>e===`failed`&&t!==null?` · ${t}`:``,z=({state:e})=>e!==`queued`&&e!==`running`,Wn=e=>e===null?0:Date.parse(e);function B(e){let{label:t,sign:n}=Bn[e];return V(e,n,t)}const V=(e,t,n)=>C`<span class="badge ${e}"><span aria-hidden="true">${t}</span> <span class="word">${n}</span></span>`,Gn={pending:`…`,delivered:`✓`,dead:`✕`},Kn=e=>e===null?T:V(`callback-${e.state}`,Gn[e.state],e.state),qn={healthy:`✓`,degraded:`!`,offline:`✕`},Jn=e=>V(`health-${e}`,qn[e],e),H=(e,t)=>e===null?T:C`<time datetime=${e} title=${At(e)}>${Ct(e,t)}</time>`,Yn=(e,t)=>C`<time datetime=${e} title=${At(e)}>${wt(e,t)}</time>`,Xn=(e,t)=>C`<time datetime=${e} title=${At(e)}>${Ot(e,t)}</time>`,U=e=>e==null?T:C`<p class="note error" role="alert">${M(e.message)}</p>`,Zn=e=>e.split("`").map((e,t)=>t%2==1?C`<code>${M(e)}</code>`:M(e));async function Qn(e){return navigator.clipboard===void 0?`Needs HTTPS`:navigator.clipboard.writeText(e).then(()=>null,()=>`Not permitted`)}function $n(e,t=`Copy`){return C`<button @click=${n=>{let r=n.currentTarget;Qn(e).then(e=>{r.textContent=e??`Copied`,setTimeout(()=>{r.textContent=t},2e3)})}} .textContent=${t}></button>`}const er=[`overview`,`tasks`,`task`,`new`,`approvals`,`callbacks`,`webhooks`,`adapters`,`usage`,`missing`];function tr(e){let{pathname:t,searchParams:n}=new URL(e,`http://console/`),[r=``,i=``,...a]=t.split(`/`).filter(e=>e!==``);return{page:nr(r,i,a.length>0),id:rr(i),query:n}}function nr(e,t,n){return n?`missing`:e===``?`overview`:e===`tasks`?t===``?`tasks`:`task`:t===``&&e!==`overview`&&e!==`task`&&er.includes(e)?e:`missing`}function rr(e){try{return decodeURIComponent(e)}catch{return e}}const W=e=>new URL(e,Pn).href,G=e=>W(`tasks/${encodeURIComponent(e)}`),ir=()=>tr(location.href.slice(Pn.href.length).split(`#`,1)[0]??``);function K(e,{replace:t=!1}={}){t?history.replaceState(null,``,e):history.pushState(null,``,e),dispatchEvent(new PopStateEvent(`popstate`))}function ar(e){if(e.defaultPrevented||e.button!==0||e.metaKey||e.ctrlKey||e.shiftKey||e.altKey)return null;let t=e.composedPath().find(e=>e instanceof HTMLAnchorElement);return t===void 0||t.target!==``||t.hasAttribute(`download`)?null:t.href.startsWith(Pn.href)?t.href:null}var or=class extends k{#e=()=>{};#t=null;#n=null;connectedCallback(){super.connectedCallback(),this.#e=this.context.attention.subscribe(()=>this.requestUpdate())}disconnectedCallback(){super.disconnectedCallback(),this.#e()}async#r(e){this.#t=e,this.#n=null,this.requestUpdate();let{api:t,attention:n}=this.context;try{await t.call(`/api/v2/adapters/${encodeURIComponent(e)}/check`,{method:`POST`})}catch(e){this.#n=e instanceof L?e:null}this.#t=null,n.refresh(),this.requestUpdate()}firstUpdated(){this.#i()}async#i(){location.hash!==``&&(await this.updateComplete,document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView())}render(){let{adapters:e,error:t,isLoaded:n}=this.context.attention.state,r=I();return C`
      <h1>Adapters</h1>
      ${U(t??this.#n)} ${n?T:C`<p role="status">Loading …</p>`}
      ${e.map(e=>sr(e,r,this.#a(e)))}
      <p class="hint">
        <code>BRIDGE_ADAPTERS</code> lists the adapters. Bridge logs at its start which other installed programs it could run.
      </p>
    `}#a({provider:e}){if(!this.context.identity.scopes.includes(`manage`))return T;let t=this.#t===e?`Checking …`:`Check now`;return C`<button ?disabled=${this.#t!==null} @click=${()=>this.#r(e)} aria-label="${t}: ${e}">
      ${t}
    </button>`}};function sr({provider:e,health:t,capabilities:n,running:r,queued:i,maxConcurrent:a,nodes:o},s,c){let{outputStrategies:l=[],inputs:u=[],...d}=n??{},f=Object.entries(d).filter(([,e])=>e===!0),p=t.detail!==null&&!t.preflight.some(({ok:e,detail:n})=>!e&&n.includes(t.detail??``));return C`<section class="adapter" aria-label=${e}>
    <div class="page-head">
      <h2 id=${e}>${e} ${Jn(t.status)}</h2>
      <p class="detail">
        ${[t.connection,t.version].map(e=>e===null?T:`${e} · `)}
        ${t.checkedAt===null?`not checked yet`:C`checked ${Yn(t.checkedAt,s)}`} ${c}
      </p>
    </div>
    ${p?C`<p class="note ${t.status===`healthy`?`info`:`warning`}">${Zn(t.detail??``)}</p>`:T}
    <p>
      <a href=${W(`tasks?provider=${encodeURIComponent(e)}&state=running`)}>${r} running</a> of ${a},
      <a href=${W(`tasks?provider=${encodeURIComponent(e)}&state=queued`)}>${i} queued</a>
      ${o.length>1?C`· nodes: ${o.join(`, `)}`:T}
    </p>
    ${t.preflight.length===0?T:C`<ul class="steps">
            ${t.preflight.map(({step:e,ok:t,detail:n})=>C`<li>
                ${t?V(`completed`,`✓`,e):V(`failed`,`✕`,e)} ${Zn(n)} ${t?T:lr(n)}
              </li>`)}
          </ul>`}
    ${f.length===0?T:C`<p class="hint">
            ${f.map(([e])=>C`<span class="chip">${cr(e)}</span> `)}
            <span class="chip">output: ${l.join(`, `)}</span>
            ${u.length===0?T:C`<span class="chip">input: ${u.join(`, `)}</span>`}
          </p>`}
  </section>`}const cr=e=>e.replaceAll(/[A-Z]/g,e=>` ${e.toLowerCase()}`),lr=e=>[...e.matchAll(/\bRun (?:`([^`]+)`|((?:npm|npx|apt-get) [^,`]+?))(?=[,`]|\.(?:\s|$))/g)].map(([,e=``,t=``])=>$n(e+t,`Copy ${e}${t}`));customElements.define(`bridge-adapters`,or);
/**
* @license
* Copyright 2017 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/
const ur=(e,t,n)=>{let r=/* @__PURE__ */ new Map;for(let i=t;i<=n;i++)r.set(e[i],i);return r},dr=ze(class extends Be{constructor(e){if(super(e),e.type!==Re.CHILD)throw Error(`repeat() can only be used in text expressions`)}dt(e,t,n){let r;n===void 0?n=t:t!==void 0&&(r=t);let i=[],a=[],o=0;for(let t of e)i[o]=r?r(t,o):o,a[o]=n(t,o),o++;return{values:a,keys:i}}render(e,t,n){return this.dt(e,t,n).values}update(e,[t,n,r]){let i=Ye(e),{values:a,keys:o}=this.dt(t,n,r);if(!Array.isArray(i))return this.ut=o,a;let s=this.ut??=[],c=[],l,u,d=0,f=i.length-1,p=0,m=a.length-1;for(;d<=f&&p<=m;)if(i[d]===null)d++;else if(i[f]===null)f--;else if(s[d]===o[p])c[p]=Ke(i[d],a[p]),d++,p++;else if(s[f]===o[m])c[m]=Ke(i[f],a[m]),f--,m--;else if(s[d]===o[m])c[m]=Ke(i[d],a[m]),Ge(e,c[m+1],i[d]),d++,m--;else if(s[f]===o[p])c[p]=Ke(i[f],a[p]),Ge(e,i[d],i[f]),f--,p++;else if(l===void 0&&(l=ur(o,p,m),u=ur(s,d,f)),l.has(s[d])){if(l.has(s[f])){let t=u.get(o[p]),n=t===void 0?null:i[t];if(n===null){let t=Ge(e,i[d]);Ke(t,a[p]),c[p]=t}else c[p]=Ke(n,a[p]),Ge(e,i[d],n),i[t]=null;p++}else Xe(i[f]),f--}else Xe(i[d]),d++;for(;p<=m;){let t=Ge(e,c[m+1]);Ke(t,a[p]),c[p++]=t}for(;d<=f;){let e=i[d++];e!==null&&Xe(e)}return this.ut=o,Je(e,c),w}}),fr=5e3;function q(e,t,{intervalMs:n=()=>fr,onValue:r}={}){let i={value:void 0,error:null},a=null,o,s=!1,c=!1;async function l(){if(a===null)return;if(s){c=!0;return}let{signal:l}=a;clearTimeout(o),s=!0,c=!1;try{let e=await t(l);if(l.aborted)return;i.value=e,i.error=null,r?.(e)}catch(e){if(l.aborted)return;i.error=e instanceof L?e:new L(0,`unexpected`,String(e))}finally{s=!1,l.aborted||(e.requestUpdate(),u(c?0:n()))}}function u(e){clearTimeout(o),document.hidden||(o=setTimeout(()=>void l(),e))}let d=()=>{document.hidden||u(0)};return e.addController({hostConnected(){a=new AbortController,s=!1,document.addEventListener(`visibilitychange`,d),e.updateComplete.then(()=>l())},hostDisconnected(){a?.abort(),a=null,clearTimeout(o),document.removeEventListener(`visibilitychange`,d)}}),{get value(){return i.value},get error(){return i.error},refresh:()=>void l()}}function pr(e){let t=(typeof e==`object`&&e&&!Array.isArray(e)?Object.entries(e):[[``,e]]).map(([e,t])=>[M(String(e)),M(Rt(t))]);if(t.reduce((e,[t,n])=>e+t.length+n.length,0)<=240&&t.reduce((e,[,t])=>e+1+t.split(`
`).length,0)<=7)return null;let n=t.length>3?[...t.slice(0,2),...t.slice(-1)]:t,r=Math.floor(240/(2*n.length)),i=n.map(([e,t])=>mr(e,t,r));return t.length>3&&i.splice(2,0,`… ${t.length-3} more fields …`),i.join(`
`)}function mr(e,t,n){let r=e===``?``:`${hr(e,n)}: `,i=t.split(`
`).filter(e=>e.trim()!==``),[a=``,o=``]=[i[0],i.at(-1)];if(i.length>1){let e=i.length>2?[`… ${i.length-2} more lines …`]:[];return[`${r}${hr(a,n)}`,...e,gr(o,n)].join(`
`)}return a.length<=2*n?`${r}${a}`:[`${r}${hr(a,n)}`,gr(a,n)].join(`
`)}const hr=(e,t)=>e.length>t?`${e.slice(0,t)}…`:e,gr=(e,t)=>e.length>t?`…${e.slice(-t)}`:e;function _r(e,t){let n=document.createElement(`a`);n.href=URL.createObjectURL(e),n.download=t,n.click(),URL.revokeObjectURL(n.href)}var vr=class extends O{static properties={value:{attribute:!1},showsEnd:{attribute:!1}};#e=``;#t=2e4;willUpdate(e){e.has(`value`)&&(this.#e=Rt(this.value))}render(){let e=this.#e.length-this.#t,t=this.showsEnd?this.#e.slice(-this.#t):this.#e.slice(0,this.#t),n=C`<pre tabindex="0">${M(t)}</pre>`;if(e<=0)return n;let r=C`<p class="more">
      <button @click=${this.#n}>Show more (${It(e)} left)</button>
      <button @click=${this.#r}>Save the whole text</button>
    </p>`;return this.showsEnd?C`${r}${n}`:C`${n}${r}`}#n(){this.#t+=5e4,this.requestUpdate()}#r(){_r(new Blob([this.#e],{type:`text/plain;charset=utf-8`}),`text.txt`)}};customElements.define(`bridge-long-text`,vr);const J=(e,{showsEnd:t=!1}={})=>C`<bridge-long-text .value=${e} .showsEnd=${t}></bridge-long-text>`;function Y(e){if(typeof e!=`object`||!e||Array.isArray(e))return J(e);let t=Object.entries(e);return t.length===0?C`<p class="hint">No input.</p>`:C`<dl class="input-fields">
    ${t.map(([e,t])=>C`<div><dt>${M(e)}</dt><dd>${J(t)}</dd></div>`)}
  </dl>`}const yr=Array.from({length:51},(e,t)=>t/50);var br=class extends O{static properties={approvalId:{attribute:!1},input:{attribute:!1},isOver:{attribute:!1},context:{attribute:!1}};#e=null;#t=!1;#n=null;#r=new IntersectionObserver(()=>this.#d(),{threshold:yr});#i=null;#a;#o=null;#s=``;#c=null;disconnectedCallback(){super.disconnectedCallback(),this.#r.disconnect(),this.#n=null,clearTimeout(this.#a)}press(e){this.#i===e&&(e===`reject`||this.#d())?(this.forget(),this.#m(e)):(this.forget(),this.#l()||(this.#i=e,this.#a=setTimeout(()=>this.forget(),5e3),this.#f(),this.requestUpdate()))}forget(){let e=this.#i!==null;return clearTimeout(this.#a),this.#i=null,e&&this.requestUpdate(),e}#l(){return this.#o!==null||this.#s!==``||this.isOver===!0||!this.#u()}#u(){return this.context.identity.scopes.includes(`approve`)}#d(){let{top:e,bottom:t,height:n}=this.#n?.getBoundingClientRect()??new DOMRect,r=n+40<=innerHeight,i=n>0&&(e>=-1||!r)&&t>0&&t<=innerHeight+1;return i!==this.#t&&(this.#t=i,this.requestUpdate()),i}#f(){this.#n?.scrollIntoView({block:`nearest`})}#p(){this.#t&&this.#d()?this.#m(`approve`):this.#f()}async#m(e){if(this.#l())return;this.#o=e,this.#c=null,this.requestUpdate();let{api:t,attention:n}=this.context,r=this.querySelector(`input`)?.value.trim()??``,i=`/api/v2/approvals/${encodeURIComponent(this.approvalId)}`;try{let n={decision:e,...r!==``&&{reason:r}};this.#s=xr(await t.call(i,{method:`POST`,body:n}))}catch(e){e instanceof L&&e.code===`already_decided`?this.#s=await this.#h():this.#c=e instanceof L?e:new L(0,`unexpected`,String(e))}this.#o=null,n.refresh(),this.requestUpdate()}async#h(){let{data:e}=await this.context.api.list(`/api/v2/approvals`,{limit:200}).catch(()=>({data:[]})),t=e.find(({approvalId:e})=>e===this.approvalId);return t===void 0||t.state===`pending`?`Already decided.`:`Already decided: ${xr(t)}`}willUpdate(e){e.has(`input`)&&(this.#e=pr(this.input))}updated(){let e=this.querySelector(`.shown-input`);e!==this.#n&&(this.#r.disconnect(),this.#n=e,e!==null&&this.#r.observe(e))}render(){if(this.#s!==``)return C`${Y(this.input)}<p class="note info" role="status">${M(this.#s)}</p>`;if(this.isOver===!0&&this.#o===null)return C`${Y(this.input)}
        <p class="hint" role="status">No longer waiting. The timeline of the task shows the decision.</p>`;if(!this.#u())return C`${Y(this.input)}<p class="hint">Your token cannot decide approvals.</p>`;let e=this.#o!==null;return C`
      ${this.#e===null?T:Y(this.input)}
      <div class="shown-input">
        ${this.#e===null?Y(this.input):C`<p class="hint">First and last line</p><pre>${this.#e}</pre>`}
      </div>
      <div class="decision">
        <input aria-label="Reason" placeholder="Reason (optional)" maxlength="2000" autocomplete="off" />
        <button class="primary" ?disabled=${e} @click=${this.#p}>${this.#t?`Approve`:`Show the input`}</button>
        <button class="danger" ?disabled=${e} @click=${()=>this.#m(`reject`)}>Reject</button>
        <span role="status">${e?`Sending …`:this.#g()}</span>
      </div>
      ${U(this.#c)}
    `}#g(){return this.#i===null?T:C`Press <kbd>${this.#i===`approve`?`a`:`r`}</kbd> again to ${this.#i}, <kbd>Esc</kbd> to keep it waiting.`}};customElements.define(`bridge-decision`,br);const xr=({state:e,decidedBy:t,reason:n})=>`${e} by ${t??`?`}${n===null||n===``?``:`: ${n}`}`;function Sr(e,t){if(e===null)return C`<span class="countdown">waits without a time limit</span>`;let n=Date.parse(e)-t;return n<=0?C`<span class="countdown">expired</span>`:C`<span class="countdown">rejected automatically in ${j(Math.ceil(n/1e3)*1e3)}</span>`}const Cr=`M2 22h28M5 22a11 11 0 0 1 22 0M10 22v-8m6 8V11m6 11v-8`,wr=C`<svg class="icon" viewBox="0 0 32 32" fill="none" stroke="currentColor" stroke-width="3" aria-hidden="true">
  <path d=${Cr} />
</svg>`;function Tr(){let e=null,t=null;return{update(n,{approvals:r,hasMoreApprovals:i}){let a=r.length;document.title=a===0?`${n} · Bridge`:`(${a}${i?`+`:``}) ${n} · Bridge`;let o=kr(a);o!==t&&document.querySelector(`link[rel=icon]`)?.setAttribute(`href`,o),t=o;let s=r.filter(({approvalId:t})=>e?.has(t)===!1);e=new Set(r.map(({approvalId:e})=>e)),s.length>0&&Er()&&Or(s)},reset(){e=null}}}const Er=()=>`Notification`in globalThis&&Notification.permission===`granted`,Dr=()=>`Notification`in globalThis&&isSecureContext&&Notification.permission==="default";function Or(e){let[t]=e,n=e.length===1?`${t?.agentId} wants to call ${t?.toolName}.`:`${e.length} tool calls wait.`,r=new Notification(`Bridge: approval needed`,{body:n,tag:`bridge-approval`});r.onclick=()=>{focus(),r.close()}}function kr(e){return`data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="${Cr}" fill="none" stroke="#2563eb" stroke-width="2.5"/>${e===0?``:`<circle cx="24" cy="8" r="8" fill="#c2410c"/>`}</svg>`)}`}var Ar=class extends k{#e=/* @__PURE__ */ new Map;#t=null;#n;#r=[];#i=q(this,async e=>(await this.context.api.list(`/api/v2/approvals`,{limit:100},{signal:e})).data);connectedCallback(){super.connectedCallback();let{attention:e,feed:t}=this.context;this.#a(),this.#n=setInterval(()=>this.requestUpdate(),1e3),this.#r=[e.subscribe(()=>{this.#a(),this.requestUpdate()}),t.subscribe(e=>{(e?.some(({approvalId:e})=>e!==null)??!0)&&this.#i.refresh()})]}disconnectedCallback(){super.disconnectedCallback(),clearInterval(this.#n);for(let e of this.#r)e()}#a(){let{approvals:e,isLoaded:t}=this.context.attention.state;for(let t of e)this.#e.set(t.approvalId,t);if(!t)return;let n=new Set(e.map(({approvalId:e})=>e)),r=[...this.#e.keys()].filter(e=>!n.has(e)&&e!==this.#t);for(let e of r.slice(0,-10))this.#e.delete(e)}onKey(e,{repeat:t}){let n=[...this.#e.keys()];if((e===`j`||e===`k`)&&n.length>0){let t=this.#t===null?-1:n.indexOf(this.#t);return this.#t=n[Math.min(n.length-1,Math.max(0,t+(e===`j`?1:-1)))]??null,this.#o(),this.requestUpdate(),this.updateComplete.then(()=>this.querySelector(`.approval[aria-current]`)?.focus()),!0}if(e===`Escape`)return this.#o();if(e!==`a`&&e!==`r`)return!1;if(t)return!0;let r=this.#t===null?null:`[data-approval="${CSS.escape(this.#t)}"] bridge-decision`,i=r===null?null:this.querySelector(r);return i?.press(e===`a`?`approve`:`reject`),i!==null}#o(){return[...this.querySelectorAll(`bridge-decision`)].filter(e=>e.forget()).length>0}render(){let e=I(),{state:t}=this.context.attention,n=(this.#i.value??[]).filter(({approvalId:e,state:t})=>t!==`pending`&&!this.#e.has(e));return C`
      <h1>Approvals <span class="hint">${zt(t.approvals.length,t.hasMoreApprovals)} waiting</span></h1>
      ${U(this.#i.error)}
      ${Dr()?C`<p><button @click=${this.#l}>Notify me in this browser</button></p>`:T}
      ${this.#e.size===0&&t.isLoaded?C`<p class="empty">No tool call waits for a decision.</p>`:T}
      <ol class="approvals">
        ${dr(this.#e.values(),({approvalId:e})=>e,t=>this.#s(t,e))}
      </ol>
      ${t.hasMoreApprovals?C`<p class="hint">These are the oldest. Others appear when these are decided.</p>`:T}
      ${n.length===0?T:C`<h2>Decided</h2><ul class="rows">${n.map(t=>jr(t,e))}</ul>`}
    `}#s(e,t){let{approvalId:n,toolName:r,agentId:i,provider:a,taskId:o,title:s,input:c,inputTruncated:l,cwd:u,createdAt:d,expiresAt:f}=e,p=this.context.attention.state.approvals.some(e=>e.approvalId===n),m=this.#i.value?.find(e=>e.approvalId===n&&e.state!==`pending`);return C`<li
      class="approval ${p?``:`over`}" tabindex="-1" aria-current=${this.#t===n?`true`:T} data-approval=${n}
      @focusin=${()=>this.#c(n)}
    >
      <h2><code>${M(r)}</code></h2>
      <p class="detail">
        ${i} · ${a} · <a href=${G(o)}>${s===null?T:C`${M(s)} · `}${o}</a> · asked ${Yn(d,t)}
        ${p?C`· ${Sr(f,t)}`:T}
      </p>
      ${u==null?T:C`<p class="detail">Directory: <code>${M(u)}</code></p>`}
      ${l?C`<p class="note warning">This is only the beginning of the input. It is longer than Bridge stores.</p>`:T}
      ${m===void 0||p?C`<bridge-decision .approvalId=${n} .input=${c} .isOver=${!p} .context=${this.context}></bridge-decision>`:C`${Y(c)}<p role="status">${Mr(m)}</p>`}
    </li>`}#c(e){this.#t=e,this.requestUpdate()}async#l(){await Notification.requestPermission(),this.requestUpdate()}};function jr(e,t){return C`<li>
    ${Mr(e)} <code>${M(e.toolName)}</code>
    <span class="detail">${M(N(Rt(e.input),100))}</span>
    <a href=${G(e.taskId)}>${e.agentId}</a> ${H(e.createdAt,t)}
  </li>`}function Mr({state:e,decidedBy:t,reason:n}){return C`${V(e,e===`approved`?`✓`:`✕`,e)}
    <span class="detail">by ${t??`?`}${n===null||n===``?T:C`: ${M(n)}`}</span>`}customElements.define(`bridge-approvals`,Ar);async function Nr(e,t,n,{pages:r,pageLength:i,signal:a}){let o=[],s;for(let c=0;c<r;c+=1){let r=await e.list(t,{...n,limit:i,cursor:s},{signal:a});if(o.push(...r.data),r.meta.nextCursor===null)return{data:o,meta:r.meta};s=r.meta.nextCursor}return{data:o,meta:{nextCursor:s??null}}}async function Pr(e,{kind:t,receiver:n}){let r=t===`callback`?`/api/v2/callbacks/redeliver`:`/api/v2/webhooks/${encodeURIComponent(n)}/redeliver`,i=0,a=null;do{let o={...t===`callback`&&{origin:n},...a!==null&&{cursor:a}},s=await e.call(r,{method:`POST`,body:o});i+=s.redelivered,a=s.nextCursor}while(a!==null);return i}function Fr(e,t){let n=e===`callback`?`callback`:`deliver`;return`${t} ${e===`callback`?`${n}${t===1?``:`s`}`:`${n}${t===1?`y`:`ies`}`}`}function Ir({attempts:e,lastStatus:t,lastError:n,nextAttemptAt:r},i){let a=[`${e} ${e===1?`attempt`:`attempts`}`];return t!==null&&a.push(`HTTP ${t}`),n!==null&&n!==`http_${t}`&&a.push(M(n)),r!==null&&a.push(`next at ${Ot(r,i)}`),a.join(`, `)}const Lr=[`dead`,`pending`,`delivered`];var Rr=class extends k{#e=``;#t=null;#n=-1;#r=1;#i=()=>{};#a=q(this,e=>this.#s(e));connectedCallback(){super.connectedCallback(),this.#i=this.context.feed.subscribe(e=>{(e?.some(({type:e})=>e.startsWith(`callback.`))??!0)&&this.#a.refresh()})}disconnectedCallback(){super.disconnectedCallback(),this.#i()}#o(){return Lr.find(e=>e===this.route.query.get(`state`))??`dead`}async#s(e){let t=this.#o();t!==this.#a.value?.state&&(this.#r=1);let n={pages:this.#r,pageLength:100,signal:e};return{...await Nr(this.context.api,`/api/v2/callbacks`,{state:t},n),state:t}}updated(){this.#a.value!==void 0&&this.#a.value.state!==this.#o()&&this.#a.refresh()}onKey(e){if(e!==`j`&&e!==`k`)return!1;let t=this.querySelectorAll(`.callback a`);return this.#n=Math.min(t.length-1,Math.max(0,this.#n+(e===`j`?1:-1))),t[this.#n]?.focus(),!0}async#c(e){await this.#u(`Redelivering …`,async()=>(await this.context.api.call(`/api/v2/callbacks/${encodeURIComponent(e)}/redeliver`,{method:`POST`}),1))}async#l(e){this.#t=null,await this.#u(`Redelivering to ${e} …`,()=>Pr(this.context.api,{kind:`callback`,receiver:e}))}async#u(e,t){this.#e=e,this.requestUpdate(),this.#e=await t().then(e=>`Redelivery of ${Fr(`callback`,e)} started.`,e=>e instanceof L?e.message:String(e)),this.context.attention.refresh(),this.#a.refresh(),this.requestUpdate()}async#d(e){this.#e=``;try{this.#t={origin:e,...await this.#f(e)}}catch(e){this.#e=e instanceof L?e.message:String(e)}this.requestUpdate()}async#f(e){let t=0,n;for(let r=0;r<10;r+=1){let r=await this.context.api.list(`/api/v2/callbacks`,{state:`dead`,limit:200,cursor:n});if(t+=r.data.filter(({url:t})=>zr(t)===e).length,n=r.meta.nextCursor??void 0,n===void 0)return{count:t,hasMore:!1}}return{count:t,hasMore:!0}}render(){let e=this.#o(),t=this.#a.value?.state===e?this.#a.value:void 0;return C`
      <h1>Callbacks</h1>
      <p class="tabs">
        ${Lr.map(t=>C`<a class="tab" href=${W(`callbacks?state=${t}`)} aria-current=${t===e?`page`:T}>${t}</a>`)}
      </p>
      ${U(this.#a.error)}
      ${this.#e===``?T:C`<p class="note info" role="status">${M(this.#e)}</p>`}
      ${t===void 0?C`<p role="status">Loading …</p>`:this.#p(e,t)}
    `}#p(e,t){let{data:n,meta:r}=t;if(n.length===0)return C`<p class="empty">${e===`dead`?`No callback is dead.`:`No callback is ${e}.`}</p>`;let i=I();return C`
      ${e===`dead`&&this.context.identity.scopes.includes(`dispatch`)?this.#m(t):T}
      <ul class="rows">
        ${dr(n,({taskId:e})=>e,e=>this.#v(e,i))}
      </ul>
      ${r.nextCursor===null?T:C`<button class="plain" @click=${this.#g}>Show ${100} more</button>`}
    `}#m({data:e,meta:t}){let n=Object.entries(Object.groupBy(e,({url:e})=>zr(e))).filter(([,e=[]])=>e.length>1||t.nextCursor!==null).map(([e])=>e);return C`${n.map(e=>this.#t?.origin===e?this.#h(this.#t):C`<p><button @click=${()=>this.#d(e)}>Redeliver all dead to ${M(e)}</button></p>`)}`}#h({origin:e,count:t,hasMore:n}){return C`<p class="actions">
      <span role="status">Redeliver ${n?`more than `:``}${Fr(`callback`,t)} to ${M(e)}?</span>
      <button @click=${()=>this.#l(e)}>Yes, redeliver</button>
      <button @click=${()=>this.#_()}>No</button>
    </p>`}#g(){this.#r+=1,this.#a.refresh()}#_(){this.#t=null,this.requestUpdate()}#v(e,t){let{taskId:n,url:r,state:i,updatedAt:a}=e,o=i===`dead`&&this.context.identity.scopes.includes(`dispatch`);return C`<li class="callback">
      ${Kn(e)} <a href=${G(n)}>${n}</a> <span>${M(r)}</span>
      <span class="detail">${Ir(e,t)}</span>
      ${H(a,t)}
      ${o?C`<button @click=${()=>this.#c(n)} aria-label="Redeliver the callback of ${n}">Redeliver</button>`:T}
    </li>`}};function zr(e){return URL.canParse(e)?new URL(e).origin:e}customElements.define(`bridge-callbacks`,Rr);const Br=e=>/^[\w./:@-]+$/.test(e)&&!e.startsWith(`-`)?e:`'${e.replaceAll(`'`,`'\\''`)}'`,Vr=[`provider`,`agentId`,`message`,`taskId`,`model`,`systemPrompt`,`resumeToken`,`callbackUrl`],Hr=[`profile`,`approvals`],Ur=[`metadata`,`bridgeInput`,`responderInput`],Wr=[`task_description`,`scope`,`task_type`,`intensity`,`domains`,`provider`,`providers`],Gr=[`domains`,`providers`],Kr={provider:`Adapter`,agentId:`Agent`,message:`Message`,profile:`Profile`,approvals:`Approvals`,model:`Model`,timeoutSeconds:`Time limit in seconds`,output:`Output`,outputPath:`Output file`,outputSchema:`JSON Schema of the output`,taskId:`Task id`,resumeToken:`Resume token`,callbackUrl:`Callback URL`,systemPrompt:`System prompt`,metadata:`Metadata`,bridgeInput:`Input of the adapter`,responderInput:`Input of the responder`,others:`Other fields of the dispatch`,"council.task_description":`Task`,"council.scope":`Scope`,"council.task_type":`Type`,"council.intensity":`Intensity`,"council.domains":`Domains`,"council.provider":`Runtime`,"council.providers":`Runtimes`,"council.others":`Other fields of the council`};function qr(e,t=`agent`){let n=[],r=t=>e[t]??``,i=e=>{if(r(e).trim()!==``)try{return An(r(e))}catch(t){n.push({path:e,message:`must be JSON: ${t.message}`});return}},a=i(`others`)??{};(typeof a!=`object`||!a||Array.isArray(a))&&n.push({path:`others`,message:`must be a JSON object`});let o={},s=e=>t===`agent`||e!==`message`&&e!==`bridgeInput`;for(let e of Vr.filter(s))r(e).trim()!==``&&(o[e]=e===`message`?r(e):r(e).trim());for(let e of Hr)r(e)!==``&&(o[e]=r(e));r(`timeoutSeconds`).trim()!==``&&(o.timeoutSeconds=Number(r(`timeoutSeconds`)));let c=Xr(r(`output`),r(`outputPath`),()=>i(`outputSchema`));c!==void 0&&(o.outputStrategy=c);for(let e of Ur.filter(s)){let t=i(e);t!==void 0&&(o[e]=t)}return t===`council`&&(o.bridgeInput={...Jr(e),...i(`council.others`)}),{body:{...o,...a},errors:n}}function Jr(e){let t=Wr.map(t=>[t,(e[`council.${t}`]??``).trim()]).filter(([,e])=>e!==``);return Object.fromEntries(t.map(([e,t])=>[e,Gr.includes(e)?Yr(t):t]))}const Yr=e=>e.split(`,`).filter(e=>e!==``);function Xr(e,t,n){return e===`file`?{type:e,path:t.trim()}:e===`structured`?{type:e,schema:n()??{}}:e===``?void 0:{type:e}}function Zr(e){let{taskId:t,outputStrategy:n,timeoutSeconds:r,...i}=e,a={},o={},s=[...Vr,...Hr];for(let[e,t]of Object.entries(i))s.includes(e)&&typeof t==`string`?a[e]=t:e===`bridgeInput`?Object.assign(a,Qr(t),{bridgeInput:JSON.stringify(t,null,2)}):Ur.includes(e)?a[e]=JSON.stringify(t,null,2):o[e]=t;r!==void 0&&(a.timeoutSeconds=String(r));let{type:c=``,path:l=``,schema:u}=n??{};return Object.assign(a,{output:c,outputPath:l,...u!==void 0&&{outputSchema:JSON.stringify(u,null,2)}}),Object.keys(o).length>0&&(a.others=JSON.stringify(o,null,2)),a}function Qr(e){let t={},n={};for(let[r,i]of Object.entries(e??{})){let e=Wr.includes(r);e&&typeof i==`string`?t[`council.${r}`]=i:e&&Array.isArray(i)?t[`council.${r}`]=i.join(`,`):n[r]=i}return{...t,...Object.keys(n).length>0&&{"council.others":JSON.stringify(n,null,2)}}}function $r(e,t=`agent`){let[n=``,r=``]=e.split(`.`);return t===`council`&&e===`council.others`?e:t===`council`&&n===`bridgeInput`?Wr.includes(r)?`council.${r}`:`council.others`:n===`outputStrategy`?r===`path`?`outputPath`:r===`schema`?`outputSchema`:`output`:[...Vr,...Hr,...Ur,`timeoutSeconds`,`outputPath`,`outputSchema`,`others`].includes(n)?n:null}function ei(e,t){let n=t.replace(/^is required \(\w+\)$/,`is required`);return`${Kr[e]??e} ${n.replace(/[.;]$/,``)}.`}const ti=(e,t)=>[`curl ${Br(e)}`,`-H "Authorization: Bearer $BRIDGE_TOKEN"`,`-H "Content-Type: application/json"`,`-d ${Br(JSON.stringify(t))}`].join(` \\
  `),ni=(e,t)=>`import { createBridgeClient } from "bridge-client";

const bridge = createBridgeClient({ url: ${JSON.stringify(e)}, token: process.env.BRIDGE_TOKEN ?? "" });
const { state, result } = await bridge.run(${JSON.stringify(t,null,2)});
console.log(state, result?.output);
`,ri=ze(class extends Be{constructor(e){
/**
* @license
* Copyright 2020 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/
if(super(e),e.type!==Re.PROPERTY&&e.type!==Re.ATTRIBUTE&&e.type!==Re.BOOLEAN_ATTRIBUTE)throw Error("The `live` directive is not allowed on child or event bindings");if(!Ue(e))throw Error("`live` bindings can only contain a single expression")}render(e){return e}update(e,[t]){if(t===w||t===T)return t;let n=e.element,r=e.name;if(e.type===Re.PROPERTY){if(t===n[r])return w}else if(e.type===Re.BOOLEAN_ATTRIBUTE){if(!!t===n.hasAttribute(r))return w}else if(e.type===Re.ATTRIBUTE&&n.getAttribute(r)===t+``)return w;return Je(e),t}});function X(e,t){let{name:n,type:r=`text`,hint:i=``}=e,a=n.replaceAll(`.`,`-`),o=t.faultOf(n),s=[i===``?``:`${a}-hint`,o===``?``:`${a}-error`].filter(e=>e!==``).join(` `),c={id:a,invalid:o===``?T:`true`,described:s===``?T:s},l=C`${i===``?T:C`<p class="hint" id="${a}-hint">${i}</p>`}
    ${o===``?T:C`<p class="field-error" id="${a}-error">${M(o)}</p>`}`;return r===`list`?C`<fieldset class="wide" aria-describedby=${c.described}>
      <legend>${Kr[n]??n}</legend>
      ${ai(e,t)} ${l}
    </fieldset>`:C`<div class=${r===`area`?`wide`:``}>
    <label for=${a}>${Kr[n]??n}</label>
    ${ii(e,t,c)} ${l}
  </div>`}function ii({name:e,type:t=`text`,list:n,none:r=`default`},i,a){let{id:o,invalid:s,described:c}=a,l=i.valueOf(e),u=t=>i.onEdit(e,t.target.value);if(t===`area`){let t=e===`message`||e===`council.task_description`;return C`<textarea
      id=${o} rows=${t?5:3} .value=${ri(l)} @input=${u} aria-invalid=${s} aria-describedby=${c}
      spellcheck=${t}
    ></textarea>`}return typeof t==`object`?C`<select id=${o} @change=${u} aria-invalid=${s} aria-describedby=${c}>
      ${r===null?T:C`<option value="" ?selected=${l===``}>${r}</option>`}
      ${t.map(e=>C`<option value=${e.value} ?selected=${e.value===l} ?disabled=${e.isDisabled===!0}>
          ${e.name??e.value}
        </option>`)}
    </select>`:C`<input
    id=${o} type=${t} .value=${ri(l)} @input=${u} list=${n??T} autocomplete="off" spellcheck="false"
    aria-invalid=${s} aria-describedby=${c}
  />`}function ai({name:e,choices:t=[]},n){let r=Yr(n.valueOf(e)),i=r.filter(e=>!t.some(t=>t.value===e)).map(e=>({value:e})),a=t=>n.onEdit(e,(r.includes(t)?r.filter(e=>e!==t):[...r,t]).join(`,`));return C`<div class="choices">
    ${[...t,...i].map(e=>C`<label class="choice" title=${e.title??T}
        ><input type="checkbox" .checked=${ri(r.includes(e.value))} @change=${()=>a(e.value)} /> ${e.name??e.value}</label
      >`)}
  </div>`}const oi=[`review`,`analysis`,`audit`,`planning`,`implementation`,`research`],si=[{value:`inspect`},{value:`modify`}],ci=[{value:`quick`,name:`quick: no debate`},{value:`standard`,name:`standard: one round of debate`},{value:`thorough`,name:`thorough: up to three rounds`}],li=e=>ui(e).includes(`bridgeInput`),ui=e=>e?.capabilities?.inputs??[];function di(e,{provider:t,adapters:n,domains:r}){let i=n.filter(e=>ui(e).length===0).map(e=>({value:e.provider})),a=r.map(({name:e,expert:t})=>({value:e,title:t})),o=t===`deep-council`;return C`
    ${X({name:`council.task_description`,type:`area`,hint:`What the council should do.`},e)}
    ${X({name:`council.scope`,type:`area`,hint:`Files, topics or a description to work on.`},e)}
    ${X({name:`council.task_type`,type:oi.map(e=>({value:e})),none:`choose one`},e)}
    ${X({name:`council.intensity`,type:ci},e)}
    ${o?T:X({name:`council.provider`,type:i},e)}
    ${X({name:`profile`,type:si,hint:`An implementation needs modify.`},e)}
    ${X({name:`timeoutSeconds`,type:`number`},e)}
    ${o?X({name:`council.providers`,type:`list`,choices:i,hint:`None: those of the settings.`},e):T}
    ${X({name:`council.domains`,type:`list`,choices:a,hint:o?`None: the council chooses from the text.`:`At least one. Each has an expert.`},e)}
  `}var fi=class extends O{static properties={context:{attribute:!1},body:{attribute:!1},nameOf:{attribute:!1},onErrors:{attribute:!1}};#e=null;#t=null;#n;#r=null;disconnectedCallback(){super.disconnectedCallback(),clearTimeout(this.#n),this.#r?.abort()}willUpdate(e){e.has(`body`)&&this.body!==null&&(clearTimeout(this.#n),this.#n=setTimeout(()=>void this.#i(this.body??`{}`),500))}async#i(e){this.#r?.abort(),this.#r=new AbortController;let{signal:t}=this.#r;try{let n=An(e);this.#e=await this.context.api.call(`/api/v2/dispatch/check`,{method:`POST`,body:n,signal:t}),this.#t=null,this.onErrors(this.#e.problem?.errors??[])}catch(e){if(t.aborted)return;this.#t=e instanceof L?e:new L(0,`unexpected`,String(e))}this.requestUpdate()}render(){return C`<section class="panel check" aria-labelledby="check" aria-live="polite">
      <h2 id="check">What the dispatch would do</h2>
      ${U(this.#t)} ${this.#a()}
    </section>`}#a(){if(this.body===null)return C`<p class="empty">Fill in the form to see it here, before anything starts.</p>`;if(this.#e===null)return C`<p class="empty">Checking …</p>`;let{problem:e,task:t}=this.#e;return t===null?this.#o(e):pi(t)}#o(e){let t=e?.errors??[],n=new Set(t.map(({path:e})=>this.nameOf(e)).filter(e=>e!==null)),r=t.filter(({path:e})=>this.nameOf(e)===null);return t.length===0?C`<p class="note warning">${M(e?.detail??`Bridge would reject it.`)}</p>`:C`${n.size===0?``:C`<p class="empty">To complete: ${[...n].join(`, `)}.</p>`}
      ${r.map(({path:e,message:t})=>C`<p class="note warning"><code>${M(e)}</code> ${M(t)}</p>`)}`}};function pi(e){if(e.replayed)return C`<p class="note info">It starts nothing, because a task with this id and content exists.</p>`;let{resolved:t,queueAhead:n}=e,r=[[`Adapter`,`${e.provider}${e.connection===null?``:` · ${e.connection}`}`],[`Model`,t.model??`default of the runtime`],[`Profile`,t.profile],[`Approvals`,t.approvals],[`Time limit`,j(t.timeoutSeconds*1e3)],[`Queued before it`,Ft(n)]];return C`<dl class="check-facts">
      ${r.map(([e,t])=>C`<div><dt>${e}</dt><dd>${M(t)}</dd></div>`)}
    </dl>
    ${e.warnings.map(e=>C`<p class="note warning">${M(e)}</p>`)}`}customElements.define(`bridge-dispatch-check`,fi);const mi={responderInput:`{
  "tool": "",
  "describe": ""
}`};var hi=class extends k{#e={};#t=[];#n=null;#r=/* @__PURE__ */ new Set;#i=!1;#a=!1;#o=!1;#s=!0;#c=[];#l=[];#u;#d=[];#f=()=>{};connectedCallback(){super.connectedCallback(),this.#f=this.context.attention.subscribe(()=>this.requestUpdate());let e=this.route.query.get(`agentId`);e!==null&&(this.#e.agentId=e),this.#p()}disconnectedCallback(){super.disconnectedCallback(),this.#f()}async#p(){let{api:e}=this.context,t=this.route.query.get(`from`);try{if(t!==null){let n=`/api/v2/tasks/${encodeURIComponent(t)}/request`,{request:r,masked:i}=await e.call(n);this.#e=Zr(r),this.#d=i,this.#i=!0}this.#s=!1,this.requestUpdate();let{data:n}=await e.list(`/api/v2/agents`,{limit:200});this.#c=n.map(({agentId:e})=>e)}catch(e){this.#n=e instanceof L?e:null}this.#s=!1,this.requestUpdate()}async#m(){let e=this.#e.agentId?.trim()??``,t=this.#c.includes(e)?e:``;if(t===this.#u)return;this.#u=t;let n=await this.context.api.list(`/api/v2/domains`,{limit:200,workspace:t}).catch(()=>null);n!==null&&this.#u===t&&(this.#l=n.data),this.requestUpdate()}#h(){return`bridge.adapter.${this.context.identity.tenant}`}#g(){let{adapters:e}=this.context.attention.state;if(this.#s||(this.#e.provider??``)!==``||e.length===0)return;let t=e.filter(({health:e})=>e.status!==`offline`),n=t.find(({provider:e})=>e===localStorage.getItem(this.#h()))??t.find(({health:e})=>e.status===`healthy`)??t[0]??e[0];this.#e.provider=n?.provider??``}#_(){return this.context.attention.state.adapters.find(({provider:e})=>e===this.#e.provider)}#v(){return li(this.#_())?`council`:`agent`}onKey(e){return e===`/`&&(this.querySelector(`main select, select, input`)?.focus(),!0)}async#y(e){e.preventDefault();let{body:t,errors:n}=qr(this.#e,this.#v());if(this.#a=!0,this.#i=!0,this.#n=null,n.length>0)return this.#b();this.#o=!0,this.requestUpdate();try{let{taskId:e}=await this.context.api.call(`/api/v2/dispatch`,{method:`POST`,body:t});localStorage.setItem(this.#h(),this.#e.provider??``),K(G(e))}catch(e){this.#n=e instanceof L?e:new L(0,`unexpected`,String(e)),this.#t=this.#n.errors,await this.#b()}finally{this.#o=!1,this.requestUpdate()}}async#b(){this.requestUpdate(),await this.updateComplete,this.querySelector(`[aria-invalid=true]`)?.focus()}#x(e,t){return{valueOf:e=>this.#e[e]??``,faultOf:n=>{let r=e.find(({path:e})=>$r(e,t)===n);return r===void 0||!(this.#a||this.#r.has(n))?``:ei(n,r.message)},onEdit:(e,t)=>{this.#e[e]=t,this.#r.add(e),this.#i=!0,this.requestUpdate()}}}render(){if(!this.context.identity.scopes.includes(`dispatch`))return C`<h1>New task</h1><p class="note warning">Your token cannot dispatch tasks.</p>`;this.#g();let e=this.#_(),t=this.#v();t===`council`&&this.#m();let{body:n,errors:r}=qr(this.#e,t),i=this.#x([...r,...this.#t],t),a=e=>Kr[$r(e,t)??``]??null;return C`
      <h1>New task</h1>
      ${this.#C(a)}
      ${this.#d.length===0?T:C`<p class="note warning">Replace the masked secrets: ${M(this.#d.join(`, `))}.</p>`}
      <div class="dispatch-page">
        <form class="dispatch" @submit=${this.#y} novalidate>
          ${this.#w(i,e)} ${t===`council`?this.#E(i,e):this.#T(i,e)}
          ${this.#D(i,e,t)}
          <p class="actions wide">
            <button class="primary" type="submit" ?disabled=${this.#o}>Dispatch</button>
            ${this.#o?C`<span role="status">Sending …</span>`:T}
          </p>
        </form>
        <div class="dispatch-side">
          <bridge-dispatch-check
            .context=${this.context} .body=${this.#i?JSON.stringify(n):null} .nameOf=${a} .onErrors=${this.#S}
          ></bridge-dispatch-check>
          ${_i(`As a command`,ti(new URL(`api/v2/dispatch`,Fn).href,n),`Copy as curl`)}
          ${_i(`As TypeScript`,ni(Fn.href,n),`Copy as TypeScript`)}
        </div>
      </div>
    `}#S=e=>{this.#t=e,this.requestUpdate()};#C(e){if(this.#n===null||this.#n.errors.length===0)return U(this.#n);let t=this.#n.errors.filter(({path:t})=>e(t)===null);return C`${t.map(({path:e,message:t})=>C`<p class="note error" role="alert"><code>${M(e)}</code> ${M(t)}</p>`)}`}#w(e,t){let{adapters:n}=this.context.attention.state,r=n.map(({provider:e,health:t})=>{let n=t.status===`offline`;return{value:e,name:n?`${e} (offline)`:e,isDisabled:n&&e!==this.#e.provider}}),i=this.#e.agentId?.trim()??``,a=i===``||this.#c.includes(i)?`The task works in the directory of this agent. A new name creates one.`:`This is a new agent: the task creates its directory.`;return C`
      ${X({name:`provider`,type:r,none:n.length===0?`default`:null},e)}
      ${X({name:`agentId`,list:`agents`,hint:a},e)}
      <datalist id="agents">${this.#c.map(e=>C`<option value=${e}></option>`)}</datalist>
      ${t===void 0||t.health.status===`healthy`?T:C`<p class="note warning wide">${t.provider} is ${t.health.status}. ${M(t.health.detail??``)}</p>`}
    `}#T(e,t){let{approvals:n,outputStrategies:r=[]}=t?.capabilities??{};for(let e of ui(t))this.#e[e]??=mi[e]??``;return C`
      ${X({name:`message`,type:`area`,hint:`What to do.`},e)}
      ${ui(t).map(t=>X({name:t,type:`area`,hint:`JSON`},e))}
      ${X({name:`profile`,type:gi([`inspect`,`modify`]),hint:`inspect: read-only. modify: may edit files and run commands.`},e)}
      ${n===!0?X({name:`approvals`,type:gi([`ask`,`deny`,`allow`])},e):T}
      ${X({name:`model`},e)} ${X({name:`timeoutSeconds`,type:`number`},e)}
      ${r.length>1?X({name:`output`,type:gi(r)},e):T}
      ${this.#e.output===`file`?X({name:`outputPath`},e):T}
      ${this.#e.output===`structured`?X({name:`outputSchema`,type:`area`},e):T}
    `}#E(e,t){let{adapters:n}=this.context.attention.state;return C`
      ${di(e,{provider:t?.provider??``,adapters:n,domains:this.#l})}
    `}#D(e,t,n){let{sessionResume:r}=t?.capabilities??{};return C`<details class="wide">
      <summary>More fields</summary>
      <div class="dispatch">
        ${X({name:`taskId`,hint:`A repeated id refers to the same task.`},e)}
        ${r===!0?X({name:`resumeToken`},e):T}
        ${X({name:`callbackUrl`,type:`url`},e)} ${n===`council`?X({name:`model`},e):T}
        ${X({name:`systemPrompt`,type:`area`},e)} ${X({name:`metadata`,type:`area`,hint:`JSON object`},e)}
        ${n===`council`?X({name:`council.others`,type:`area`,hint:`JSON object, such as {"context_summary": "…"}`},e):T}
        ${X({name:`others`,type:`area`,hint:`JSON object`},e)}
      </div>
    </details>`}};const gi=e=>e.map(e=>({value:e})),_i=(e,t,n)=>C`<details>
    <summary>${e}</summary>
    <pre tabindex="0">${M(t)}</pre>
    ${$n(t,n)}
  </details>`;customElements.define(`bridge-new`,hi);const vi=[`CRITICAL`,`HIGH`,`MEDIUM`,`LOW`,`INFO`];function yi(e){let t=vi.indexOf(e??``);return t===-1?vi.length:t}const bi=[`multi_source_confirmed`,`outputs`,`single_source_findings`,`integration_findings`,`disputed_findings`,`disputed_outputs`,`withdrawn_findings`,`withdrawn_outputs`];function xi(e,t){let n=Di(e.result?.outputs),r=t.flatMap(Si);if(r.length===0&&!(`verdict`in n&&`roles`in n))return null;let i=wi(n,r),a=i.length>0?i:r;return{verdict:Z(n.verdict),status:Z(n.status),isPartial:n.partial_coverage===!0,skipped:Oi(n.skip_reasons).map(({bridge:e,reason:t})=>({bridge:String(e),reason:String(t)})),findings:bi.flatMap(e=>Oi(n[e]).map(t=>Ei(t,e))).toSorted((e,t)=>yi(e.severity)-yi(t.severity)),rounds:[...new Set(a.map(({round:e})=>e))].toSorted((e,t)=>e-t),roles:Ti(a)}}function Si(e){let t=Ci(e);return t===null?[]:[{provider:e.provider,...t,task:e,answers:[]}]}function Ci(e){let{role:t,domain:n,round:r}=Di(Di(e.metadata).council);return typeof t==`string`&&typeof r==`number`?{role:t,domain:Z(n)??``,round:r}:null}function wi(e,t){let n=(e,n)=>Oi(e).flatMap(({role:e,domain:r,round:i,answered:a,reason:o})=>{if(typeof e!=`string`||typeof i!=`number`)return[];let s=t=>t.role===e&&t.round===i&&t.domain===r,c=n===null?t.findLast(s):t.find(e=>e.provider===n&&s(e)),l=[{answered:a===!0,reason:Z(o)??``}];return[{provider:n,role:e,domain:Z(r)??``,round:i,task:c?.task,answers:l}]});return[...Oi(e.bridge_reports).flatMap(({bridge:e,roles:t})=>n(t,Z(e))),...n(e.roles,Z(e.bridge))]}function Ti(e){let t=/* @__PURE__ */ new Map;for(let{provider:n,role:r,domain:i,round:a,task:o,answers:s}of e){let e=`${r} (${[n??`all runtimes`,i].filter(e=>e!==``&&e!==r).join(` · `)})`,c=t.get(e)??/* @__PURE__ */ new Map;c.set(a,{task:o,answers:[...c.get(a)?.answers??[],...s]}),t.set(e,c)}return[...t].map(([e,t])=>({name:e,turns:t}))}function Ei(e,t){let n=`output`in e?Di(e.output):e,r=Oi(n.positions).map(({bridge:e,id:t})=>`${String(e)} ${String(t)}`),i=Array.isArray(n.confirmed_by)?`confirmed by ${n.confirmed_by.join(`, `)}`:``,a=Z(e.unresolved_challenge);return{id:Z(n.id)??``,severity:Z(n.severity),status:t.startsWith(`withdrawn`)?`withdrawn`:t.startsWith(`disputed`)?`disputed`:Z(n.status)??``,title:Z(n.title)??``,description:Z(n.description)??``,evidence:Z(n.evidence),action:Z(n.action),raisedBy:r.length>0?r.join(`, `):Z(n.agent)??Z(n.source_bridge)??`the council`,note:a===null?i:`challenged: ${a}`}}const Di=e=>typeof e==`object`&&e&&!Array.isArray(e)?e:{},Oi=e=>Array.isArray(e)?e.map(Di):[],Z=e=>typeof e==`string`?e:null,ki={all:()=>!0,errors:e=>e.kind===`tool`&&e.isError||e.kind===`child`&&e.task.state===`failed`,tools:e=>e.kind===`tool`,text:e=>e.kind===`text`};function Ai(e,t){let n=[],r=t.map(e=>({task:e,at:Date.parse(e.startedAt??e.createdAt)})).toSorted((e,t)=>e.at-t.at),i=null,a=e=>{for(;r[0]!==void 0&&r[0].at<e;)n.push({turn:i,entry:{kind:`child`,task:r[0].task}}),r.shift()};for(let t of e)for(let e of t.entries)r.length>0&&a(ji(e)),i=t,n.push({turn:i,entry:e});return a(1/0),n}function ji(e){return e.kind===`child`?Date.parse(e.task.startedAt??e.task.createdAt):Date.parse(e.kind===`tool`?e.invokedAt:e.at)}function Mi(e){return e.kind===`child`?e.task.finishedAt===null:e.kind===`tool`&&(e.completedAt===null||e.approval!==null&&e.approval.decision===null)}const Ni=1.25,Pi=1e3;function Fi(e,{isRunning:t}){if(!t)return Math.max(1,e);let n=Math.max(0,Math.ceil(Math.log(Math.max(1,e/Pi))/Math.log(Ni)));return Pi*Ni**n}const Ii=[`command`,`cmd`],Li=[`description`,`reason`,`thought`];function Ri(e){if(typeof e!=`object`||!e||Array.isArray(e))return N(Q(e)??Rt(e));let t=Object.keys(e),n=[...Ii,...t.filter(e=>!Li.includes(e)),...t];for(let t of n){let n=Object.hasOwn(e,t)?Q(e[t]):null;if(n!==null&&n!==``)return N(n)}return t.length===0?``:N(Rt(e))}function Q(e){if(typeof e==`string`)return e;if(typeof e==`number`||typeof e==`boolean`)return String(e);if(!Array.isArray(e))return null;let t=e.map(Q);return t.includes(null)?null:t.join(` `)}function zi(e){let t=Bi(e);if(t!==null)return N(t,300);let{done:n,of:r,...i}=e,a=Object.entries(i).map(([e,t])=>`${e} ${Q(t)??JSON.stringify(t)}`),[o]=Object.keys(i).length===1?Object.values(i).map(Q):[],s=typeof n==`number`&&typeof r==`number`?[`${n} of ${r}`]:[];return N([...o==null?a:[o],...s].join(`, `),300)}function Bi({phase:e,round:t,role:n,domain:r,id:i,severity:a,title:o,done:s,of:c}){return typeof e!=`string`||typeof t!=`number`?null:e===`finding`?`${Q(n)??Q(r)??`Council`}: finding ${Q(i)??``} ${Q(a)??``}: ${Q(o)??``}`:typeof n==`string`?`Round ${t}, ${e}: ${n} answered${typeof s==`number`&&typeof c==`number`?`, ${s} of ${c}`:``}`:null}function Vi(e){let t=Ci(e);if(t===null)return{name:e.title??e.taskId,detail:`${e.agentId} · ${e.provider}`};let n=t.domain===``||t.domain===t.role?[]:[t.domain];return{name:t.role,detail:[e.provider,...n,`round ${t.round}`].join(` · `)}}var Hi=class extends O{static properties={context:{attribute:!1}};#e=null;#t=null;#n=``;#r=null;#i=()=>{};connectedCallback(){super.connectedCallback(),this.#i=this.context.attention.subscribe(()=>this.requestUpdate())}disconnectedCallback(){super.disconnectedCallback(),this.#i()}async#a(e){await this.#s(async()=>{await this.context.api.call(`/api/v2/attention/acknowledge`,{method:`POST`,body:e}),this.context.attention.refresh(),this.#e!==null&&await this.#o()})}async#o(){this.#e=await this.context.api.call(`/api/v2/attention?acknowledged=true&limit=50`)}async#s(e){this.#t=null,await e().catch(e=>{this.#t=e instanceof L?e:new L(0,`unexpected`,String(e))}),this.requestUpdate()}#c(){this.#e===null?this.#s(()=>this.#o()):(this.#e=null,this.requestUpdate())}render(){let{approvals:e,faults:t,faultsAt:n,isLoaded:r}=this.context.attention.state,i=I(),a=new Date(n).toISOString(),o=[...Wi(t),...Gi(t,a),...Ki(t)],s=t.counts.failure-o.filter(({choice:e})=>e.kind===`failure`).length;return C`
      ${U(this.#t)} ${this.#n===``?T:C`<p class="note info" role="status">${this.#n}</p>`}
      ${r&&e.length+o.length===0?C`<p class="empty">Nothing waits for a person.</p>`:T}
      <ul class="rows">
        ${e.slice(0,5).map(e=>C`<li>
            ${B(`approval`)}
            <a href=${W(`approvals`)}>${e.agentId} wants to call <code>${M(e.toolName)}</code></a>
            <code class="detail">${M(Ri(e.input))}</code> ${H(e.createdAt,i)}
          </li>`)}
        ${o.map(e=>this.#m(e,i))}
      </ul>
      <p class="actions">
        ${s>0?C`<a href=${W(`tasks?state=failed`)}>${s} more failed ${s===1?`task`:`tasks`}</a>`:T}
        ${s>0&&this.#l()?this.#u(`Acknowledge all failed tasks`,{kind:`failure`,all:!0,until:a}):T}
        ${r?C`<button class="plain" aria-expanded=${this.#e!==null} @click=${this.#c}>Acknowledged faults</button>`:T}
      </p>
      ${this.#e===null?T:qi(this.#e,i)}
    `}#l(){return this.context.identity.scopes.includes(`dispatch`)}#u(e,t){return C`<button class="plain" @click=${()=>this.#a(t)}>${e}</button>`}#d(e){this.#r=e,this.requestUpdate()}async#f(e){this.#r=null,await this.#s(async()=>{this.#n=`Redelivery of ${Fr(e.kind,await Pr(this.context.api,e))} started.`,this.context.attention.refresh()})}#p(e){let t=`${e.kind} ${e.receiver}`;return this.#r===t?C`<span role="status">Redeliver ${Fr(e.kind,e.count)}?</span>
      <button class="small" @click=${()=>this.#f(e)}>Yes, redeliver</button>
      <button class="small" @click=${()=>this.#d(null)}>No</button>`:C`<button class="plain small" aria-label="Redeliver all dead to ${M(e.receiver)}" @click=${()=>this.#d(t)}>Redeliver all</button>`}#m({sign:e,name:t,link:n,detail:r,at:i,choice:a,dead:o},s){return C`<li>
      ${e} <a href=${n}>${M(t)}</a> <span class="detail">${M(r)}</span> ${H(i,s)}
      ${o!==void 0&&this.#l()?this.#p(o):T}
      ${this.#l()?C`<button class="plain small acknowledge" aria-label="Acknowledge ${M(t)}" @click=${()=>this.#a(a)}>Acknowledge</button>`:T}
    </li>`}};const Ui=e=>V(`failed`,`✕`,e),Wi=({data:e})=>e.filter(({kind:e})=>e===`failure`).map(({id:e,title:t,agentId:n,provider:r,detail:i,at:a})=>({sign:B(`failed`),name:t??e,link:G(e),at:a,detail:[...t===null?[]:[e],n,r,i].filter(e=>e!==null).join(` · `),choice:{kind:`failure`,id:e}})),Gi=({data:e,receivers:t},n)=>t.map(({kind:t,receiver:r,count:i})=>{let a=e.find(e=>e.kind===t&&e.receiver===r);return{sign:Ui(Fr(t,i).replace(` `,` dead `)),dead:{kind:t,receiver:r,count:i},name:r,link:W(t===`callback`?`callbacks`:`webhooks?name=${encodeURIComponent(r)}`),detail:[a?.detail,i===1?a?.taskId:null].filter(e=>e!=null).join(` · `),at:a?.at??null,choice:{kind:t,receiver:r,until:n}}}),Ki=({data:e})=>e.filter(({kind:e})=>e===`adapter`).map(({id:e,detail:t})=>({sign:Jn(`offline`),name:e,link:W(`adapters#${encodeURIComponent(e)}`),detail:t??``,at:null,choice:{kind:`adapter`,id:e}}));function qi({data:e},t){return e.length===0?C`<p class="empty">No fault that still exists was acknowledged.</p>`:C`<ul class="rows" aria-label="Acknowledged faults">
    ${e.map(e=>C`<li>
        ${V(``,`·`,Ji[e.kind])} <span>${M(e.title??e.receiver??e.id)}</span>
        <span class="detail">${M(e.detail??``)}</span>
        <span class="detail">${Yi(e,t)}</span>
      </li>`)}
  </ul>`}const Ji={approval:`approval`,failure:`failed task`,callback:`dead callback`,delivery:`dead delivery`,adapter:`offline adapter`},Yi=({acknowledgedBy:e,acknowledgedAt:t},n)=>t===null?``:`acknowledged by ${e??`?`}, ${Ot(t,n)}`;customElements.define(`bridge-needs-you`,Hi);function Xi(e){let{provider:t}=e.filter(({health:e})=>e.status===`healthy`).find(e=>ui(e).length===0)??{};if(t===void 0)return C`<p class="empty">No tasks yet, and no adapter is ready. <a href=${W(`adapters`)}>See why</a></p>`;let n=ti(new URL(`api/v2/dispatch`,Fn).href,{provider:t,agentId:`auditor`,message:`Count BRIDGE in *.md`,files:[{path:`notes.md`,content:`BRIDGE is one endpoint. BRIDGE loses no task.`}]});return C`<p class="empty">No tasks yet. <a href=${W(`new`)}>Dispatch one here</a>, or from a terminal with your token in BRIDGE_TOKEN:</p>
    <pre tabindex="0"><code>${n}</code></pre>
    <p>${$n(n,`Copy as curl`)}</p>`}const Zi=({costUsd:e,tasksWithoutCost:t})=>$i(Pt(e),e!==null&&t>0),Qi=(e,{tasksWithoutUsage:t})=>$i(Ft(e),e!==null&&t>0),$i=(e,t)=>t?`${e} + ?`:e,ea=[`tasks`,`cost`,`tokens`],ta={tasks:[{kind:`completed`,label:`completed`,read:({completed:e})=>e},{kind:`failed`,label:`failed`,read:({failed:e})=>e},{kind:`cancelled`,label:`canceled`,read:({cancelled:e})=>e}],cost:[{kind:`cost`,label:`known cost in US dollars`,read:({costUsd:e})=>e}],tokens:[{kind:`input`,label:`input tokens`,read:({inputTokens:e})=>e},{kind:`output`,label:`output tokens`,read:({outputTokens:e})=>e}]};var na=class extends k{#e=q(this,async e=>(await this.context.api.list(`/api/v2/tasks`,{root:`*`,limit:30},{signal:e})).data);#t=q(this,async e=>{let t=new Date(new Date(I()).setHours(0,0,0,0)).toISOString();return(await this.context.api.call(`/api/v2/stats?${new URLSearchParams({from:t,limit:`1`})}`,{signal:e})).total},{intervalMs:()=>15e3});#n=q(this,async e=>(await this.context.api.list(`/api/v2/tasks`,{state:`running`,root:`*`,limit:20},{signal:e})).data);#r=q(this,async e=>{let t=async t=>{let{data:n,meta:r}=await this.context.api.list(`/api/v2/tasks`,{state:t,limit:200},{signal:e});return zt(n.length,r.nextCursor!==null)},[n,r]=await Promise.all([t(`running`),t(`queued`)]);return{running:n,queued:r}});#i;#a=[];connectedCallback(){super.connectedCallback();let{attention:e,feed:t}=this.context;this.#i=setInterval(()=>this.requestUpdate(),1e3),this.#a=[e.subscribe(()=>this.requestUpdate()),t.subscribe(()=>{this.#e.refresh(),this.#n.refresh()})]}disconnectedCallback(){super.disconnectedCallback(),clearInterval(this.#i);for(let e of this.#a)e()}render(){let{error:e}=this.context.attention.state,t=this.#t.value;return C`
      <h1>Overview</h1>
      ${U(e)}
      <ul class="figures">
        ${aa(`Running`,this.#r.value?.running??``,`tasks?state=running`)}
        ${aa(`Queued`,this.#r.value?.queued??``,`tasks?state=queued`)}
        ${aa(`Failed today`,t?.failed??``,`tasks?state=failed`,(t?.failed??0)>0)}
        ${aa(`Ended today`,t?.tasks??``,`usage?window=today`)}
        ${aa(`Cost today`,t===void 0?``:Zi(t),`usage?window=today`)}
      </ul>
      <section aria-labelledby="needs-you">
        <h2 id="needs-you">Needs you</h2>
        <bridge-needs-you .context=${this.context}></bridge-needs-you>
      </section>
      ${this.#o()}
    `}#o(){let{value:e=[],error:t}=this.#n,{value:n,error:r}=this.#e;if(n===void 0)return C`${U(r)}`;if(n.length===0)return Xi(this.context.attention.state.adapters);let i=I(),a=n.filter(z).toSorted((e,t)=>(t.finishedAt??``).localeCompare(e.finishedAt??``)).slice(0,10);return C`
      <section aria-labelledby="running">
        <h2 id="running">Running now</h2>
        ${U(t)}
        ${e.length===0?C`<p class="empty">Nothing runs.</p>`:T}
        <ul class="rows">${e.map(e=>ia(e,i))}</ul>
        ${e.length===20?C`<p><a href=${W(`tasks?state=running`)}>All running tasks</a></p>`:T}
      </section>
      <section aria-labelledby="recent">
        <h2 id="recent">Latest ended</h2>
        ${U(r)}
        <ul class="rows">
          ${a.map(e=>C`<li>
              ${B(R(e,i))} <a href=${G(e.taskId)}>${M(e.title??e.taskId)}</a>
              <span class="detail">${ra(e)}${Un(e)}</span> ${H(e.finishedAt,i)}
            </li>`)}
        </ul>
        <p><a href=${W(`tasks`)}>All tasks</a></p>
      </section>
    `}};const ra=({taskId:e,title:t,agentId:n,provider:r})=>[...t===null?[]:[e],n,r].join(` · `);function ia(e,t){let{taskId:n,title:r,startedAt:i,lastProgressAt:a}=e;return C`<li>
    ${B(R(e,t))} <a href=${G(n)}>${M(r??n)}</a>
    <span class="detail">${ra(e)}</span>
    <span class="since"
      >${i===null?T:C`for <strong>${j(Math.floor((t-Date.parse(i))/1e3)*1e3)}</strong>`}
      ${a===null?T:C`<span class="detail">last event ${H(a,t)}</span>`}</span
    >
  </li>`}function aa(e,t,n,r=!1){return C`<li class=${r?`urgent`:``}>
    <a href=${W(n)}><span class="value">${t}</span> <span class="label">${e}</span></a>
  </li>`}customElements.define(`bridge-overview`,na);var oa=class extends O{static properties={reason:{attribute:!1},onSignIn:{attribute:!1}};#e(e){e.preventDefault();let t=new FormData(e.target),n=String(t.get(`token`)??``).trim();n!==``&&this.onSignIn(n,{remember:t.get(`remember`)===`on`})}firstUpdated(){this.querySelector(`#token`)?.focus()}render(){return C`
      <main class="sign-in">
        <h1>Bridge</h1>
        ${this.reason===null?T:C`<p class="note error" role="alert">${M(this.reason)}</p>`}
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
    `}};customElements.define(`bridge-sign-in`,oa);function sa({attempts:e,history:t},n){if(t.length===0)return T;let r=e-t.length;return C`<section aria-labelledby="attempts">
    <h2 id="attempts">Callback attempts <span class="hint">${e}</span></h2>
    <ul class="rows attempts">
      ${t.toReversed().map(e=>ca(e,n))}
    </ul>
    ${r===0?T:C`<p class="hint">Earlier attempts are no longer stored: ${r}.</p>`}
  </section>`}function ca({number:e,at:t,status:n,error:r,durationMs:i,response:a,responseTruncated:o},s){return C`<li>
    <strong>${e}</strong> <span>${n===null?`no response`:`HTTP ${n}`}</span>
    <span class="detail">${r===null?`delivered`:M(r)}, ${j(i)}</span>
    ${Xn(t,s)}
    ${a===null||a===``?T:C`<details>
            <summary>Response ${o?C`<span class="hint">beginning</span>`:T}</summary>
            ${J(a)}
          </details>`}
  </li>`}const la=`bridge.plain-text`,ua=/* @__PURE__ */ new Set,da={get isOn(){return localStorage.getItem(la)!==null},toggle(){da.isOn?localStorage.removeItem(la):localStorage.setItem(la,`on`);for(let e of ua)e()},subscribe(e){return ua.add(e),()=>ua.delete(e)}};let fa=null;async function pa(){fa??=import(`./markdown-BDPeweBn.js`).catch(()=>null);let e=await fa;return e===null&&(fa=null),e}var ma=class extends O{static properties={text:{attribute:!1},level:{attribute:!1},isComplete:{attribute:!1}};#e={text:``,element:null};#t=()=>{};#n=new ResizeObserver(e=>{for(let{target:t}of e)t.scrollWidth>t.clientWidth||t.scrollHeight>t.clientHeight?t.setAttribute(`tabindex`,`0`):t.removeAttribute(`tabindex`)});connectedCallback(){super.connectedCallback(),this.#t=da.subscribe(()=>this.requestUpdate())}disconnectedCallback(){super.disconnectedCallback(),this.#t(),this.#n.disconnect(),this.#e={text:``,element:null}}willUpdate(e){this.isComplete&&!da.isOn&&this.#e.text!==this.text&&(this.#e={text:this.text,element:null},this.#r())}async#r(){let e=this.#e,t=await pa();e.text.length>500&&await new Promise(e=>setTimeout(e));let n=await t?.renderMarkdown(e.text,{level:this.level,show:M});if(n!=null&&e===this.#e){e.element=n,this.#n.disconnect();for(let e of n.querySelectorAll(`pre, .scroll`))this.#n.observe(e);this.requestUpdate()}}render(){let{text:e,element:t}=this.#e;return!this.isComplete||da.isOn||e!==this.text||t===null?J(this.text,{showsEnd:!this.isComplete}):C`${t}`}};customElements.define(`bridge-markdown-text`,ma);const ha=(e,{level:t,isComplete:n=!0})=>C`<bridge-markdown-text .text=${e} .level=${t} .isComplete=${n}></bridge-markdown-text>`;var ga=class extends O{static properties={taskId:{attribute:!1},heading:{attribute:!1},context:{attribute:!1}};#e=null;render(){return C`<details @toggle=${this.#n}>
      <summary>${M(this.heading)}</summary>
      ${this.#t()}
    </details>`}#t(){let e=this.#e;if(e===null)return T;if(e instanceof L)return C`${U(e)}`;let{output:t,outputs:n,error:r}=e.result??{};return C`
      ${t?_a(t):n===void 0?C`<p class="empty">${M(r??`No answer.`)}</p>`:J(n)}
      <p><a href=${G(e.taskId)}>The task of this role</a></p>
    `}async#n(e){e.newState===`open`&&this.#e===null&&(this.#e=await this.context.api.call(`/api/v2/tasks/${encodeURIComponent(this.taskId)}`).catch(e=>e instanceof L?e:new L(0,`unreachable`,String(e))),this.requestUpdate())}};function _a(e){try{return J(JSON.parse(e))}catch{return ha(e,{level:4})}}customElements.define(`bridge-answer`,ga);const va={PASS:[`completed`,`✓`],CONCERNS:[`approval`,`!`],FAIL:[`failed`,`✕`]},ya={SKIPPED:[`failed`,`✕`],HALTED:[`approval`,`!`],ABORTED:[`failed`,`✕`]},ba=(e,t)=>(Object.hasOwn(e,t)?e[t]:void 0)??[``,`·`];function xa({verdict:e,status:t,isPartial:n,skipped:r,findings:i,rounds:a,roles:o},s,c){let[l,u]=ba(va,e??``),[d,f]=ba(ya,t??``);return C`<section aria-labelledby="council">
    <h2 id="council">Council ${e===null?T:V(l,u,e)}
      ${t===null||t===`COMPLETED`?T:V(d,f,t)}</h2>
    ${n?C`<p class="note warning">Not every requested runtime completed, so the coverage is partial.</p>`:T}
    ${r.map(({bridge:e,reason:t})=>C`<p class="note info"><strong>${e}</strong> did not take part: ${M(t)}</p>`)}
    ${o.length===0?T:C`<div class="scroll" tabindex="0" role="region" aria-label="Roles and rounds">
            <table class="council">
              <thead>
                <tr><th scope="col">Role</th>${a.map(e=>C`<th scope="col">Round ${e}</th>`)}</tr>
              </thead>
              <tbody>
                ${o.map(({name:e,turns:t})=>C`<tr>
                    <th scope="row">${M(e)}</th>
                    ${a.map(e=>C`<td>${Ca(t.get(e),c)}</td>`)}
                  </tr>`)}
              </tbody>
            </table>
          </div>`}
    ${i.length===0?T:C`<h3>Findings <span class="hint">${i.length}</span></h3><ul class="rows findings">${i.map(Ta)}</ul>`}
    ${Sa(o,s)}
  </section>`}function Sa(e,t){let n=e.flatMap(({name:e,turns:t})=>[...t].flatMap(([t,{task:n}])=>n===void 0||!z(n)?[]:[{name:e,round:t,taskId:n.taskId}]));return n.length===0?T:C`<details>
    <summary>Answers of the roles <span class="hint">${n.length}</span></summary>
    <ul class="rows findings">
      ${n.map(({name:e,round:n,taskId:r})=>C`<li><bridge-answer .taskId=${r} .heading=${`${e}, round ${n}`} .context=${t}></bridge-answer></li>`)}
    </ul>
  </details>`}function Ca(e,t){if(e===void 0)return T;let{task:n,answers:r}=e,i=r.length>0?wa(r):n===void 0?T:B(R(n,t)),a=r.filter(({answered:e})=>!e).map(({reason:e})=>e);return C`${n===void 0?i:C`<a href=${G(n.taskId)}>${i}</a>`}
    ${a.map(e=>C`<p class="detail">${M(e)}</p>`)}`}function wa(e){let t=e.filter(({answered:e})=>e).length;return t===e.length?V(`completed`,`✓`,`answered`):t===0?V(`failed`,`✕`,`no answer`):V(`approval`,`!`,`${t} of ${e.length} answered`)}function Ta({severity:e,status:t,title:n,description:r,evidence:i,action:a,raisedBy:o,note:s}){return C`<li>
    <details>
      <summary>
        ${e===null?T:V(e===`CRITICAL`||e===`HIGH`?`failed`:`approval`,`▲`,e)}
        ${V(``,`·`,t)} ${M(n)} <span class="detail">${M(o)}</span>
      </summary>
      ${s===``?T:C`<p class="detail">${M(s)}</p>`} ${ha(r,{level:4})}
      ${i===null?T:C`<h4>Evidence</h4>${J(i)}`} ${a===null?T:C`<h4>Action</h4>${ha(a,{level:5})}`}
    </details>
  </li>`}
/**
* @license
* Copyright 2018 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/
const Ea={},Da=ze(class extends Be{constructor(){super(...arguments),this.ot=Ea}render(e,t){return t()}update(e,[t,n]){if(Array.isArray(t)){if(Array.isArray(this.ot)&&this.ot.length===t.length&&t.every((e,t)=>e===this.ot[t]))return w}else if(this.ot===t)return w;return this.ot=Array.isArray(t)?Array.from(t):t,this.render(t,n)}}),$=e=>Da([e],()=>et(e,{class:`icon`,"aria-hidden":`true`}));function Oa(e,t){let n=e=>e.currentTarget.closest(`details`)?.removeAttribute(`open`);return C`<details class="menu" @focusout=${e=>{e.currentTarget.contains(e.relatedTarget)||n(e)}} @keydown=${e=>{e.key===`Escape`&&(n(e),e.currentTarget.querySelector(`summary`)?.focus())}}>
    <summary aria-label=${e}>${$(st)}</summary>
    <ul>
      ${t.map(({name:e,run:t})=>C`<li><button @click=${e=>{n(e),t()}}>${e}</button></li>`)}
    </ul>
  </details>`}const ka={"+":`added`,"-":`removed`," ":`same`},Aa=/^(?:new file|deleted file|old mode|new mode|Binary files)/;function ja(e,t){let n=[],r={path:``,notes:[],lines:[]},[i,a,o,s]=[0,0,0,0];function c(e){let t=ka[e[0]];if(o+s>0&&t!==void 0){let[n,c]=[t!==`added`,t!==`removed`];r.lines.push({kind:t,oldNumber:n?i:null,newNumber:c?a:null,text:e.slice(1)}),n&&([i,o]=[i+1,o-1]),c&&([a,s]=[a+1,s-1])}else e.startsWith(`\\`)?r.lines.push({kind:`comment`,oldNumber:null,newNumber:null,text:e.slice(2)}):l(e)}function l(e){let t=/^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(e);t===null?e.startsWith(`diff --git `)?([o,s]=[0,0],r={path:Ma(e.slice(11)),notes:[],lines:[]},n.push(r)):Aa.test(e)&&r.notes.push(e):([i,o,a,s]=[t[1],t[2]??1,t[3],t[4]??1].map(Number),r.lines.push({kind:`hunk`,oldNumber:null,newNumber:null,text:e}))}let u=0;for(let r=0;u<e.length;r+=1){if(r===t)return{files:n,rest:u};let i=e.indexOf(`
`,u),a=i===-1?e.length:i;c(e.slice(u,a)),u=a+1}return{files:n,rest:null}}const Ma=e=>e.slice(0,(e.length-1)/2).replace(/^a\//,``),Na=1e3,Pa=2e3,Fa={bytes:`The diff is too long. Its end is missing.`,time:`git took too long. The end of the diff is missing.`,unreadable:`git could not read a file or an object. The end of the diff is missing.`};var Ia=class extends O{static properties={context:{attribute:!1},taskId:{attribute:!1}};#e=`closed`;#t=Na;async#n(){this.#e=`loading`,this.#t=Na,this.requestUpdate();let e=`/api/v2/tasks/${encodeURIComponent(this.taskId)}/diff`;this.#e=await this.context.api.call(e).catch(e=>e instanceof L?e:new L(0,`unreachable`,String(e))),this.requestUpdate()}render(){let e=this.#e;if(e===`closed`)return C`<button @click=${this.#n}>Show the diff</button>`;if(e===`loading`)return C`<p role="status">Comparing with the commit at the start …</p>`;let t=e instanceof L?C`<p class="note ${e.code===`invalid_state`?`info`:`error`}" role="status">${Zn(e.message)}</p>`:this.#r(e);return C`${t} <button @click=${this.#n}>Compare again</button>`}#r({commit:e,directory:t,diff:n,diffBase64:r,truncated:i,omitted:a}){let{files:o,rest:s}=ja(n,this.#t);return C`
      <p class="hint">
        Changes since commit <code>${e.slice(0,12)}</code>${t===``?``:C` in <code>${M(t)}</code>`}, as the
        files are now.
      </p>
      ${i===null?T:C`<p class="note warning">${Fa[i]??`The end of the diff is missing.`}</p>`}
      ${typeof r==`string`?C`<p class="note info">Bytes that are not UTF-8 are shown as �.</p>`:T}
      ${a.length===0?T:C`<p class="note warning">Too large to be compared: ${M(a.join(`, `))}</p>`}
      ${n===``&&i===null?C`<p class="empty">No changes.</p>`:o.map(La)}
      ${s===null?T:C`<button @click=${this.#i}>Show more (${It(n.length-s)} left)</button>`}
    `}#i(){this.#t+=5e3,this.requestUpdate()}};function La({path:e,notes:t,lines:n}){return C`<div class="diff">
    <h3><code>${M(e)}</code></h3>
    ${t.map(e=>C`<p class="hint">${M(e)}</p>`)}
    ${n.length===0?T:C`<table aria-label="Changes of ${M(e)}"><tbody>${n.map(za)}</tbody></table>`}
  </div>`}const Ra={added:`+`,removed:`-`,same:` `,hunk:``,comment:``},za=({kind:e,oldNumber:t,newNumber:n,text:r})=>C`<tr class=${e}><td class="line">${t}</td><td class="line">${n}</td><td class="sign">${Ra[e]}</td><td class="code">${M(Ba(r))}</td></tr>`,Ba=e=>e.length<=Pa?e:`${e.slice(0,Pa)} … (${e.length-Pa} more characters)`;customElements.define(`bridge-task-diff`,Ia);const Va=(e,t)=>C`<section aria-labelledby="diff">
    <h2 id="diff">Diff</h2>
    <bridge-task-diff .taskId=${e} .context=${t}></bridge-task-diff>
  </section>`;function Ha(e,t){let{result:n,createdAt:r,startedAt:i,finishedAt:a}=e,o=a===null?t:Date.parse(a),s=n?.usage,c=[[`Started`,i===null?`not yet`:C`${Xn(i,t)} <span class="detail">(${Yn(i,t)})</span>`],[`Duration`,i===null?``:j(o-Date.parse(i))],[`Queue wait`,j((i===null?o:Date.parse(i))-Date.parse(r))],[`Cost`,n===null?``:Pt(n.costUsd)],[`Tokens`,n===null?``:s===void 0?`?`:`${Ft(s.inputTokens)} in, ${Ft(s.outputTokens)} out`]];return C`<dl class="task-figures">${c.map(([e,t])=>C`<div><dt>${e}</dt><dd>${t}</dd></div>`)}</dl>`}function Ua(e,t){let{result:n,callback:r}=e,i=Object.entries(e.labels),a=[[`Agent`,C`<a href=${W(`tasks?agentId=${encodeURIComponent(e.agentId)}`)}>${e.agentId}</a>`],[`Adapter`,C`<a href=${W(`adapters#${encodeURIComponent(e.provider)}`)}>${e.provider}</a>${n===null?T:` · ${n.connection}`}`],[`Model`,e.model??(n===null?null:`?`)],[`Labels`,i.length===0?null:i.map(([e,t])=>{let n=`${e}=${t}`;return C`<a class="chip" href=${W(`tasks?label=${encodeURIComponent(n)}`)}>${M(n)}</a> `})],[`Created`,Xn(e.createdAt,t)],[`Ended`,e.finishedAt===null?null:Xn(e.finishedAt,t)],[`Parent`,e.parentTaskId===null?null:C`<a href=${G(e.parentTaskId)}>${M(e.parentTaskId)}</a>`],[`Node`,e.node],[`Callback`,r===null?null:C`${Kn(r)} ${M(r.url)}
            <span class="detail">${z(e)?Ir(r,t):`starts when the task ends`}</span>`],[`Metadata`,e.metadata===null?null:C`<code>${M(N(Rt(e.metadata),400))}</code>`]];return C`<dl class="facts">
    ${a.filter(([,e])=>e!==null).map(([e,t])=>C`<div><dt>${e}</dt><dd>${t}</dd></div>`)}
  </dl>`}const Wa=86400;function Ga({state:e,errorCode:t,result:n,taskId:r,provider:i},a){if(e!==`failed`&&e!==`cancelled`)return T;let o=t??n?.errorCode??e,s=Nn(o);return C`<section class="failure ${e}" aria-label="Why the task failed">
    <p><strong>${o}</strong> ${M(N(n?.error??s?.cause??``,500))}</p>
    ${s===null?T:C`<p class="advice">${n?.error===void 0?T:C`${Zn(s.cause)} `}${Zn(s.advice)}</p>
            <div class="actions">${s.remedies.map(e=>Ka(e,{taskId:r,provider:i},a))}</div>`}
  </section>`}function Ka(e,{taskId:t,provider:n},{mayDispatch:r,timeoutSeconds:i,runAgain:a}){switch(e){case`open_adapter`:return C`<a class="button" href=${W(`adapters#${encodeURIComponent(n)}`)}>Open the adapter ${n}</a>`;case`change_request`:return r?C`<a class="button" href=${W(`new?from=${encodeURIComponent(t)}`)}>Run again with changes</a>`:T;case`run_again`:return r?C`<button @click=${()=>a({})}>Run again</button>`:T;case`run_longer`:{if(!r||i===null||i>=Wa)return T;let e=Math.min(Wa,2*i);return C`<button @click=${()=>a({timeoutSeconds:e})}>Run again with ${j(e*1e3)}</button>`}}}function qa({start:e,length:t},n,r,{label:i,kind:a=``}){let o=n=>Math.min(100,Math.max(0,(n-e)/t*100));return C`<svg class="lane" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label=${i}>
    <rect class="track" width="100" height="8" />
    <rect class="bar ${a}" x=${Math.min(99,o(n))} width=${Math.max(1,o(r)-o(n))} height="8" />
  </svg>`}var Ja=class extends O{static properties={call:{attribute:!1},revision:{attribute:!1},offset:{attribute:!1},axis:{attribute:!1},now:{attribute:!1},isRunning:{attribute:!1},isForced:{attribute:!1}};#e=!1;willUpdate(e){e.has(`isForced`)&&e.get(`isForced`)!==void 0?this.#e=this.isForced:this.isForced&&!this.hasUpdated&&(this.#e=!0)}render(){let{toolName:e,input:t,isError:n,completedAt:r,invokedAt:i}=this.call,a=Date.parse(i),o=r===null?this.isRunning?this.now:a:Date.parse(r),s=r===null?this.isRunning?`running for ${j(o-a)}`:`no result`:j(o-a),c=n?`failed`:r===null?`open`:``;return C`<details class=${n?`is-error`:``} ?open=${this.#e} @toggle=${this.#t}>
      <summary>
        <span class="offset">${this.offset}</span>
        <span class="line" title=${M(Ri(t))}
          ><code class="tool">${M(e)}</code> <span class="input">${M(Ri(t))}</span> ${n?V(`failed`,`✕`,`error`):T}</span
        >
        ${qa(this.axis,a,o,{label:s,kind:c})}
        <span class="time ${c}">${s}</span>
      </summary>
      ${this.#e?this.#n():T}
    </details>`}#t(e){let t=e.newState===`open`;t!==this.#e&&(this.#e=t,this.requestUpdate())}#n(){let{input:e,output:t,completedAt:n,isTruncated:r}=this.call;return C`<div class="body">
      ${r?C`<p class="note warning">Bridge cut this call, because it is longer than an event may be.</p>`:T}
      <h4>Input</h4>
      ${Y(e)}
      ${n===null?T:C`<h4>Output</h4>${J(t)}`}
    </div>`}};customElements.define(`bridge-call`,Ja);function Ya(e,t,{at:n,onMove:r}){let i=e.map(({entry:e})=>ji(e)),a=n=>{let a=Number(n.target.value),o=a===159?-1:i.findIndex(e=>e>=t.start+a/160*t.length);r(o===-1?e.length-1:o)},o=i[n]===void 0?0:Xa(i[n],t);return C`<div class="minimap">
    <svg viewBox="0 0 ${160} ${24}" preserveAspectRatio="none" aria-hidden="true">
      <path class="bars" d=${Qa(Za(i,t))} />
      <path class="failed" d=${Qa(Za(i.filter((t,n)=>ki.errors(e[n].entry)),t))} />
    </svg>
    <input type="range" min="0" max=${159} .value=${String(o)} aria-label="Time in the timeline" @change=${a} />
  </div>`}const Xa=(e,{start:t,length:n})=>Math.min(159,Math.max(0,Math.floor((e-t)/n*160)));function Za(e,t){let n=Array.from({length:160},()=>0);for(let r of e)n[Xa(r,t)]=n[Xa(r,t)]+1;return n}function Qa(e){return e.map((e,t)=>{let n=e===0?0:Math.min(24,6+4*Math.log2(e));return n===0?``:`M${t} 24v${-n}h0.8v${n}z`}).join(``)}var $a=class extends O{static properties={timeline:{attribute:!1},task:{attribute:!1},childTasks:{attribute:!1},context:{attribute:!1},now:{attribute:!1},count:{attribute:!1}};#e=`all`;#t=null;#n=null;#r=100;#i=!1;#a=null;#o=!1;updated(e){let{marked:t}=this.timeline;if(t===null||this.#o)return;let n=this.querySelector(`.marked`);if(n!==null){this.#o=!0,n.scrollIntoView({block:`center`});return}let r=this.#s().findIndex(({entry:e})=>e===t);r!==-1&&this.#c(r)}#s(){let{entryCount:e,turns:t}=this.timeline;return(this.#a?.entryCount!==e||this.#a.childTasks!==this.childTasks)&&(this.#a={entryCount:e,childTasks:this.childTasks,rows:Ai(t,this.childTasks)}),this.#a.rows}#c(e){this.#n=Math.max(0,e-5),this.#r=100,this.requestUpdate()}#l(e){return()=>{e(),this.requestUpdate()}}#u(){let{startedAt:e,createdAt:t,finishedAt:n}=this.task,r=Date.parse(e??t);return{start:r,length:Fi((n===null?this.now:Date.parse(n))-r,{isRunning:!z(this.task)})}}render(){let e=this.#s(),t=!z(this.task);if(e.length===0)return C`<p class="empty">No text and no tool calls${t?` yet`:``}.</p>`;let n=this.#u(),r=this.#e===`all`?e:e.filter(({entry:e})=>ki[this.#e](e)),i=this.#t??t,a=this.#n??(i?Math.max(0,r.length-this.#r):0),o=this.#n===null&&i?r.length:Math.min(r.length,a+this.#r),s=a===0?T:this.#p(`earlier`,a,()=>this.#f(a)),c=o===r.length?T:this.#p(`later`,r.length-o,()=>this.#d(a));return C`
      ${this.#m(e,i)}
      ${r.length<40?T:Da([no(r.length),n.length,this.#e,a],()=>Ya(r,n,{at:a,onMove:e=>this.#c(e)}))}
      ${i?c:s}
      ${r.length===0?C`<p class="empty">Nothing in the timeline matches.</p>`:this.#h(r.slice(a,o),n,i)}
      ${i?s:c}
    `}#d(e){this.#n=e,this.#r+=100}#f(e){let t=Math.min(100,e);this.#n!==null&&(this.#n=e-t),this.#r+=t}#p(e,t,n){return C`<button class="plain" @click=${this.#l(n)}>Show ${Math.min(100,t)} ${e} entries (${t} left)</button>`}#m(e,t){let n=e=>this.#l(()=>{this.#e=e,this.#n=null,this.#r=100});return C`<div class="timeline-tools">
      <div role="group" aria-label="Entries">
        ${Object.keys(ki).map(t=>{let r=e.filter(({entry:e})=>ki[t](e)).length;return C`<button aria-pressed=${t===this.#e} @click=${n(t)}>${eo[t]} <span class="detail">${r}</span></button>`})}
      </div>
      <button class="plain" aria-pressed=${this.#i} @click=${this.#l(()=>{this.#i=!this.#i})}>Open all</button>
      <button class="plain" @click=${this.#l(()=>{this.#t=!t,this.#n=null})}>${t?`Newest first`:`Oldest first`}</button>
    </div>`}#h(e,t,n){let r=!z(this.task),i=ro(e),a={axis:t,now:this.now,isRunning:r,answer:this.task.result?.output??null};return C`<div class="axis" aria-hidden="true"><span><span>0 s</span><span>${j(t.length)}</span></span></div>
      <ol class="timeline">
        ${dr(n?i.toReversed():i,({turn:e,entries:t})=>e?.number??`child ${ji(t[0])}`,({turn:e,entries:i})=>{let o=r&&i.some(Mi)?this.now:Math.floor(this.now/6e4),s=i.map(e=>e.kind===`child`?`${e.task.taskId} ${e.task.state}`:``).join(),c=e===this.timeline.turns.at(-1),l=[e,e?.revision,i.length,i[0],s,r,c,o,t.length,this.timeline.marked,this.#i,n,a.answer];return C`<li>${Da(l,()=>this.#g(e,n?i.toReversed():i,a))}</li>`})}
      </ol>`}#g(e,t,n){let{marked:r}=this.timeline,i=e!==null&&to(e);return C`${i?C`<h3 title=${Ot(e.startedAt,n.now)}>Turn ${e.number}</h3>`:C`<span></span>`}
      <div class="entries">
        ${t.map(e=>C`<div class="entry ${e.kind} ${e===r?`marked`:``}">${this.#_(e,n)}</div>`)}
      </div>`}#_(e,t){let{axis:n,isRunning:r,answer:i}=t,a=io(ji(e)-n.start),o=C`<span class="offset">${a}</span>`;switch(e.kind){case`text`:return e.isDiscarded?C`${o}<p class="hint">The runtime discarded ${e.text.length} characters of text.</p>`:i!==null&&e.text.trim()===i.trim()?C`${o}<p class="hint">The answer, which is shown as the result.</p>`:C`${o}
          <div class="answer">${ha(e.text,{level:4,isComplete:!r||e!==this.timeline.turns.at(-1)?.entries.at(-1)})}</div>`;case`progress`:return C`${o}<p class="progress">${M(zi(e.data))}</p>`;case`child`:return C`${o}${ao(e.task,t)}`;case`tool`:return C`<bridge-call
            .call=${e} .offset=${a} .axis=${n} .now=${Mi(e)?t.now:0} .isRunning=${r}
            .revision=${`${e.completedAt}${e.isTruncated}`} .isForced=${this.#i}
          ></bridge-call>
          ${oo(e,this.context,t)}`}}};const eo={all:`All`,errors:`Errors`,tools:`Tools`,text:`Text`},to=({entries:e})=>e.some(({kind:e})=>e!==`progress`),no=e=>Math.floor(Math.log(e)/Math.log(1.02));function ro(e){let t=[];for(let{turn:n,entry:r}of e){let e=t.at(-1);e!==void 0&&e.turn===n?e.entries.push(r):t.push({turn:n,entries:[r]})}return t}function io(e){let t=Math.max(0,e)/1e3;if(t<10)return`+${t.toFixed(1)} s`;let n=e=>String(Math.floor(e)).padStart(2,`0`),[r,i]=[Math.floor(t/3600),Math.floor(t%3600/60)];return r===0?`+${i}:${n(t%60)}`:`+${r}:${n(i)}:${n(t%60)}`}function ao(e,{axis:t,now:n}){let{name:r,detail:i}=Vi(e),a=ji({kind:`child`,task:e}),o=e.finishedAt===null?n:Date.parse(e.finishedAt),s=e.startedAt===null?`not started`:j(o-a);return C`<span class="line">${e.state===`completed`?`↳`:B(R(e,n))} <a href=${G(e.taskId)}>${M(r)}</a> <span class="detail">${M(i)}</span></span>
    ${qa(t,a,e.startedAt===null?a:o,{label:`Child task: ${s}`,kind:e.state===`failed`?`failed`:`child`})}
    <span class="time">${s}</span>`}function oo(e,t,{isRunning:n,now:r}){let{approval:i}=e;return i===null?T:i.decision===null?n?C`<div class="waiting">
    <p>${V(`approval`,`!`,`needs approval`)} ${Sr(i.expiresAt,r)}</p>
    <bridge-decision .approvalId=${i.approvalId} .input=${e.input} .context=${t}></bridge-decision>
  </div>`:T:C`<p class="hint decided">
      ${i.decision===`approve`?`Approved`:`Rejected`} by ${i.by}${i.reason===null?``:`: ${M(i.reason)}`}
    </p>`}customElements.define(`bridge-timeline`,$a);const so=(e,t,n,r,i)=>C`<bridge-timeline .timeline=${e} .count=${e.count} .task=${t} .childTasks=${n} .context=${r} .now=${i}></bridge-timeline>`;function co(e=null){let t=[],n=/* @__PURE__ */ new Map,r=/* @__PURE__ */ new WeakMap,i=0,a=0,o,s=null,c=0,l=null,u=e=>i===0&&e.entries.some(({kind:e})=>e===`tool`);function d(e,{isModel:n}){let r=t.at(-1);if(r!==void 0&&!(n&&u(r)))return r;let i={number:t.length+1,startedAt:e,entries:[],revision:0};return t.push(i),i}function f(e,t){return e.entries.push(t),r.set(t,e),a+=1,t}function p(e,t){let n=d(e,{isModel:!0}),r=n.entries.at(-1);return r?.kind===`text`&&!r.isDiscarded?Object.assign(r,{text:r.text+t}):f(n,{kind:`text`,at:e,text:t,isDiscarded:!1})}function m(e,{toolCallId:t,toolName:r,input:a}){let o=n.get(t);if(o!==void 0)return o;let s=f(d(e,{isModel:!0}),lo(e,{toolCallId:t,toolName:r,input:a}));return n.set(t,s),i+=1,s}function h(e,t){let n=m(e,{...t,input:null});return n.completedAt===null&&--i,Object.assign(n,{completedAt:e,output:t.output,isError:t.isError})}function g(e){let{timestamp:r}=e;switch(e.type){case`assistant.text`:return p(r,e.data.content);case`assistant.text_discarded`:return uo(t),null;case`tool.invoked`:{let t=m(r,e.data);return t.isTruncated||=e.data.truncated===!0,t}case`tool.completed`:{let t=h(r,e.data);return t.isTruncated||=e.data.truncated===!0,t}case`tool.approval_requested`:{let{approvalId:t,expiresAt:n}=e.data;return Object.assign(m(r,e.data),{approval:{approvalId:t,expiresAt:n,decision:null,by:null,reason:null}})}case`tool.approval_resolved`:{let{toolCallId:t,decision:r,by:i,reason:a}=e.data,o=n.get(t);return o?.approval!=null&&Object.assign(o.approval,{decision:r,by:i,reason:a}),o??null}case`execution.progress`:return f(d(r,{isModel:!1}),{kind:`progress`,at:r,data:e.data});default:return null}}return{turns:t,get marked(){return l},get lastEventId(){return o},get lastEventAt(){return s},get entryCount(){return a},get count(){return c},add(t){o=t.id,s=t.timestamp,c+=1;let n=g(t);n!==null&&(r.get(n).revision+=1),t.id===e&&(l=n)}}}const lo=(e,t)=>({kind:`tool`,...t,invokedAt:e,completedAt:null,output:null,isError:!1,isTruncated:!1,approval:null});function uo(e){for(let t of e.toReversed())for(let e of t.entries.toReversed()){if(e.kind===`tool`)return;e.kind===`text`&&(e.isDiscarded=!0,t.revision+=1)}}var fo=class extends k{#e=co();#t=!1;#n=null;#r=!1;#i=!1;#a=null;#o=``;#s=null;#c;#l=()=>{};#u;#d=null;#f=q(this,e=>this.#m(e),{intervalMs:()=>this.#p()?6e4:fr});connectedCallback(){super.connectedCallback(),this.#c=setInterval(()=>this.requestUpdate(),1e3),this.#l=this.context.feed.subscribe(e=>{(e?.some(({taskId:e})=>e===this.route.id)??!0)&&this.#f.refresh()}),this.#e=co(this.route.query.get(`event`)),this.#r=!1,this.#n=new AbortController,this.#v(this.#n.signal)}disconnectedCallback(){super.disconnectedCallback(),clearInterval(this.#c),this.#l(),this.#n?.abort()}get paintGapMs(){return this.#f.value===void 0?0:100}#p(){let e=this.#f.value?.task;return e!==void 0&&z(e)&&e.callback?.state!==`pending`}async#m(e){let{api:t}=this.context,n=`/api/v2/tasks/${encodeURIComponent(this.route.id)}`,r=this.#f.value===void 0,i=()=>t.list(`${n}/files`,{limit:200},{signal:e}).catch(()=>null),[a,o,s,c]=await Promise.all([t.call(n,{signal:e}),t.list(`/api/v2/tasks`,{parentTaskId:this.route.id,limit:200},{signal:e}),this.#u??this.#g(n,e),r?i():null]);this.#u=s,r&&this.dispatchEvent(new CustomEvent(_t,{detail:M(a.title??a.taskId),bubbles:!0})),r&&(this.#i=z(a));let[l,u,d]=await Promise.all([z(a)?c??i():null,this.#_(a,e),a.state===`queued`?this.#h(a,e):null]);return{task:a,children:o.data.toReversed(),files:l?.data??[],request:s,callback:u,ahead:d}}async#h({provider:e,createdAt:t},n){let r={state:`queued`,provider:e,createdBefore:t,limit:200},{data:i,meta:a}=await this.context.api.list(`/api/v2/tasks`,r,{signal:n});return zt(i.length,a.nextCursor!==null)}async#g(e,t){let{request:n,masked:r}=await this.context.api.call(`${e}/request`,{signal:t}),{message:i,...a}=n;return{message:i,fields:a,isMasked:r.length>0}}async#_({taskId:e,callback:t},n){return t===null||t.attempts===0?null:(this.#d?.attempts!==t.attempts&&(this.#d=await this.context.api.call(`/api/v2/callbacks/${encodeURIComponent(e)}`,{signal:n})),this.#d)}async#v(e){let t=()=>{this.#t=!0};try{for await(let n of this.context.feed.followTask(this.route.id,{signal:e,onGap:t}))this.#e.add(n),this.requestUpdate();let n=this.#f.value?.task;n!==void 0&&!z(n)&&this.#f.refresh()}catch(t){e.aborted||(this.#a=t)}this.#r=!0,this.requestUpdate()}async#y(e,t){this.#s=null,this.#o=await e().then(()=>t,e=>e instanceof L?e.message:String(e)),this.#f.refresh(),this.requestUpdate()}#b(e=``){return`/api/v2/tasks/${encodeURIComponent(this.route.id)}${e}`}#x={cancel:()=>void this.#y(()=>this.context.api.call(this.#b(`/cancel`),{method:`POST`}),`Cancellation requested. The task ends when its runtime has stopped.`),delete:()=>void this.#y(async()=>{await this.context.api.call(this.#b(),{method:`DELETE`}),K(W(`tasks`))},`Deleted.`)};#S(e){let{message:t,fields:n,isMasked:r}=this.#u;if(r){K(W(`new?from=${encodeURIComponent(this.route.id)}`));return}let{taskId:i,...a}=n,o={...a,...t!==void 0&&{message:t},...e};this.#y(async()=>{let{taskId:e}=await this.context.api.call(`/api/v2/dispatch`,{method:`POST`,body:o});K(G(e))},``)}async#C({path:e}){let t=e.split(`/`).map(encodeURIComponent).join(`/`);try{_r(await this.context.api.download(`/api/v2/tasks/${encodeURIComponent(this.route.id)}/files/${t}`),e.split(`/`).at(-1)??`file`)}catch(e){this.#o=e instanceof L?e.message:String(e),this.requestUpdate()}}render(){let{value:e,error:t}=this.#f;if(t?.status===404)return this.#O();if(e===void 0)return C`<h1>${M(this.route.id)}</h1>${t===null?C`<p role="status">Loading …</p>`:U(t)}`;let{task:n}=e,r=I(),i=xi(n,e.children);return C`
      ${this.#T(n,r)} ${U(t)}
      ${this.#o===``?T:C`<p class="note info" role="status">${M(this.#o)}</p>`}
      <div class="task-layout">
        <aside aria-label="Details">${Ua(n,r)}</aside>
        <div class="task-main">
          ${Ga(n,{mayDispatch:this.#w(),timeoutSeconds:e.request.isMasked?null:go(e.request.fields.timeoutSeconds)??600,runAgain:e=>this.#S(e)})}
          ${this.#P(e,r)} ${i===null?T:xa(i,this.context,r)}
          ${this.#F(n,{isFolded:i!==null&&i.findings.length>0})} ${vo(e.request)}
          <section aria-labelledby="timeline">
            <h2 id="timeline">Timeline <span class="hint">${this.#e.count} events</span></h2>
            ${this.#t?C`<p class="note warning">Earlier events of this task have been deleted.</p>`:T}
            ${this.#a===null||this.#f.error!==null?T:C`<p class="note error" role="alert">The events cannot be read: ${String(this.#a)}</p>`}
            ${this.#i&&!this.#r?C`<p role="status">Loading …</p>`:so(this.#e,n,e.children,this.context,r)}
          </section>
          ${e.callback===null?T:sa(e.callback,r)} ${this.#I(e.files)}
          ${n.startedAt===null?T:Va(n.taskId,this.context)}
        </div>
      </div>
    `}#w(){return this.context.identity.scopes.includes(`dispatch`)}#T(e,t){return C`<div class="task-head">
      <p class="crumb">
        <a href=${W(`tasks`)}>Tasks</a> / <code>${M(e.taskId)}</code>
        <button class="plain small" @click=${()=>this.#E(e.taskId,`id`)} aria-label="Copy the id">${$(ot)}</button>
      </p>
      <div class="page-head">
        <h1>${M(e.title??e.taskId)} ${B(R(this.#D(e),t))}</h1>
        ${this.#k(e)}
      </div>
      ${Ha(e,t)}
    </div>`}async#E(e,t){this.#o=await Qn(e)??`Copied the ${t}.`,this.requestUpdate()}#D(e){let{lastEventAt:t}=this.#e;return t!==null&&t>(e.lastProgressAt??``)?{...e,lastProgressAt:t,waitingOn:e.waitingOn===`runtime`?null:e.waitingOn}:e}#O(){return C`<h1>${M(this.route.id)}</h1>
      <p class="note warning">
        There is no such task. It never existed, belongs to another tenant, was deleted, or ended longer ago than Bridge keeps tasks
        (<code>BRIDGE_RETENTION_DAYS</code>).
      </p>
      <p><a href=${W(`tasks`)}>All tasks</a></p>`}#k(e){let t=z(e),{taskId:n}=e,r=[{name:`Copy the link`,run:()=>void this.#E(G(n),`link`)},{name:`Copy as curl`,run:()=>void this.#E(_o(this.#b()),`curl command`)},{name:`Copy as command`,run:()=>void this.#E(`brg task ${Br(n)}`,`command`)},{name:`Save as JSON`,run:()=>_r(new Blob([JSON.stringify(e,null,2)],{type:`application/json`}),`${n}.json`)},{name:da.isOn?`Show Markdown`:`Show plain text`,run:()=>this.#M()},...this.#w()&&t?[{name:`Delete …`,run:()=>this.#N(`delete`)}]:[]];return C`<div class="actions">${this.#A(e)} ${Oa(`More actions`,r)}</div>`}#A(e){return this.#w()?this.#s===null?C`
      ${z(e)?T:C`<button class="danger" @click=${()=>this.#N(`cancel`)}>Cancel</button>`}
      ${e.callback?.state===`dead`?C`<button @click=${this.#j}>Redeliver the callback</button>`:T}
      ${e.state===`completed`?C`<button @click=${()=>this.#S({})}>Run again</button>`:T}
      <a class="button" href=${W(`new?from=${encodeURIComponent(e.taskId)}`)}>Run again with changes</a>
    `:C`<span>${po[this.#s]}</span>
        <button class="danger" @click=${this.#x[this.#s]}>Yes, ${this.#s}</button>
        <button @click=${()=>this.#N(null)}>No</button>`:T}#j(){let e=`/api/v2/callbacks/${encodeURIComponent(this.route.id)}/redeliver`;this.#y(()=>this.context.api.call(e,{method:`POST`}),`Redelivery started.`)}#M(){da.toggle(),this.requestUpdate()}#N(e){this.#s=e,this.requestUpdate()}#P({task:e,ahead:t},n){let r=this.#D(e);switch(R(r,n)){case`queued`:return C`<p class="note info">
          The task ${Hn(e)||`is queued`}. Your tasks for this adapter that were queued before it: ${t??`?`}.
        </p>`;case`approval`:return C`<p class="note warning">A tool call waits for your decision, in the timeline.</p>`;case`silent`:{let e=r.lastProgressAt??r.startedAt;return C`<p class="note warning">No event for ${e===null?`?`:j(n-Date.parse(e))}.</p>`}default:return T}}#F({result:e,state:t},{isFolded:n}){if(e===null)return T;let{error:r,output:i,outputs:a}=e,o=r!==void 0&&t!==`completed`;if(o&&!ho(r)&&!i&&a===void 0)return T;let s=i===void 0||i===``?T:ha(mo(i),{level:3});return C`<section aria-labelledby="result">
      <h2 id="result">${o?`Error`:`Result`}</h2>
      ${o?J(r):T}
      ${n&&s!==T?C`<details><summary>The whole report</summary>${s}</details>`:s}
      ${a===void 0?T:C`<details ?open=${!i}><summary>Structured output</summary>${J(a)}</details>`}
      ${r===void 0&&!i&&a===void 0?C`<p class="empty">No output.</p>`:T}
    </section>`}#I(e){return e.length===0?T:C`<section aria-labelledby="files">
      <h2 id="files">Files <span class="hint">${e.length}${e.length===200?`+`:``}</span></h2>
      <ul class="rows">
        ${e.map(e=>C`<li>
            <code>${M(e.path)}</code> <span class="detail">${It(e.bytes)}</span>
            <button @click=${()=>this.#C(e)} aria-label="Download ${M(e.path)}">Download</button>
          </li>`)}
      </ul>
    </section>`}};const po={cancel:`Cancel this task and its child tasks?`,delete:`Delete this task with its events and its callback?`},mo=e=>e.replace(/^---\n(?:[\w-]+: .*\n)+---\n/,``),ho=e=>e.length>400||e.includes(`
`),go=e=>typeof e==`number`?e:null,_o=e=>`curl ${Br(new URL(e.slice(1),Fn).href)} -H "Authorization: Bearer $BRIDGE_TOKEN"`;function vo({message:e,fields:t}){return C`<section aria-labelledby="request">
    <h2 id="request">Request</h2>
    ${typeof e==`string`&&e!==``?J(e):T}
    <details><summary>All fields</summary>${J(t)}</details>
  </section>`}customElements.define(`bridge-task`,fo);function yo(e,t,n){let r=new Set(t),i=[...e].filter(([e])=>!r.has(e)).map(([,e])=>e),a=n&&2*i.length>=e.size?i:[],o=Math.max(-1,...e.values())+1,s=()=>(o+=1,o-1);return new Map(t.map(t=>[t,e.get(t)??a.shift()??s()]))}function bo(){let e=/* @__PURE__ */ new Map,t=[],n=[],r=0,i=[];function a(){let e=r;return i.push(e),e}function o(e){i.splice(i.indexOf(e),1);for(let{number:t,event:r}of n)t>=e&&s(r);let t=Math.min(...i,r);n=n.filter(({number:e})=>e>=t)}function s(t){let n=e.get(t.taskId);n!==void 0&&e.set(t.taskId,xo(n,t))}return{list:(n,r)=>t.slice(n,r).map(t=>e.get(t)),get length(){return t.length},begin:a,abandon:o,applyFirst(n,r,i){let a=new Set(r.map(({taskId:e})=>e)),s=r.at(-1)?.createdAt??``,c=i?t.filter(t=>!a.has(t)&&(e.get(t)?.createdAt??``)<=s):[],l=new Set(c);for(let n of t)!a.has(n)&&!l.has(n)&&e.delete(n);for(let t of r)e.set(t.taskId,t);t=[...a,...c],o(n)},append(n,r){t=[...t,...r.filter(({taskId:t})=>!e.has(t)).map(({taskId:e})=>e)];for(let t of r)e.set(t.taskId,t);o(n)},patch(t){let a=!1;for(let o of t)i.length>0&&n.push({number:r,event:o}),r+=1,a||=!e.has(o.taskId),s(o);return a}}}function xo(e,{type:t,timestamp:n,errorCode:r}){let i=e.state===`queued`||e.state===`running`;switch(t){case`execution.started`:return e.state===`queued`?{...e,state:`running`,startedAt:n,lastProgressAt:n,waitingOn:null,queuedBecause:null}:e;case`execution.completed`:return i?{...e,state:`completed`,finishedAt:n,waitingOn:null,queuedBecause:null}:e;case`execution.failed`:return i?{...e,state:r===`cancelled`?`cancelled`:`failed`,errorCode:r,finishedAt:n,waitingOn:null,queuedBecause:null}:e;case`tool.approval_requested`:return e.state===`running`?{...e,waitingOn:`approval`,lastProgressAt:n}:e;case`tool.approval_resolved`:return e.state===`running`?{...e,waitingOn:null,lastProgressAt:n}:e;case`callback.delivered`:return e.callback===null?e:{...e,callback:{...e.callback,state:`delivered`}};case`callback.dead`:return e.callback===null?e:{...e,callback:{...e.callback,state:`dead`}};default:return e}}const So=[{name:`All`,query:``},{name:`Running`,query:`state=running`},{name:`Failed today`,query:`created=today&state=failed`},{name:`Needs approval`,query:`waitingOn=approval`},{name:`Dead callbacks`,query:`callback=dead`}];function Co(e){let t=new URLSearchParams([...e].filter(([,e])=>e!==``));return t.sort(),t.toString()}function wo(e,t){let n=`bridge.views.${t}`,r=()=>To(e.getItem(n)),i=t=>e.setItem(n,JSON.stringify(t));return{list:r,save:e=>i([...r().filter(({name:t})=>t!==e.name),e].slice(-20)),remove:e=>i(r().filter(t=>t.name!==e))}}function To(e){try{let t=JSON.parse(e??`[]`);return Array.isArray(t)?t.filter(Eo):[]}catch{return[]}}const Eo=e=>typeof e==`object`&&!!e&&typeof Reflect.get(e,`name`)==`string`&&typeof Reflect.get(e,`query`)==`string`,Do=36e5,Oo={hour:{name:`Last hour`,start:e=>e-Do},today:{name:`Today`,start:e=>new Date(e).setHours(0,0,0,0)},"7d":{name:`Last 7 days`,start:e=>e-168*Do},"30d":{name:`Last 30 days`,start:e=>e-720*Do}},ko=[`search`,`state`,`provider`,`agentId`,`label`,`errorCode`,`callback`,`waitingOn`,`q`,`idPrefix`,`parentTaskId`,`root`,`createdAfter`,`createdBefore`];function Ao(e,t){let n=Oo[e.get(`created`)??``],r=ko.map(t=>[t,e.get(t)??``]);return{...Object.fromEntries(r.filter(([,e])=>e!==``)),...n!==void 0&&!e.has(`createdAfter`)&&{createdAfter:new Date(n.start(t)).toISOString()}}}const jo=[{name:`errorCode`,label:`Error code`,values:null,example:`timeout`},{name:`callback`,label:`Callback`,values:[`pending`,`delivered`,`dead`]},{name:`waitingOn`,label:`Waits for`,values:[[`approval`,`an approval`]]},{name:`root`,label:`Child tasks`,values:[[`*`,`none`]]},{name:`parentTaskId`,label:`Parent task`,values:null,example:`id`},{name:`idPrefix`,label:`Id starts with`,values:null},{name:`q`,label:`Title contains`,values:null},{name:`createdAfter`,label:`Created after`,values:`time`},{name:`createdBefore`,label:`Created before`,values:`time`}];var Mo=class extends O{static properties={context:{attribute:!1},query:{attribute:!1},inRow:{attribute:!1},onQuery:{attribute:!1}};#e=``;#t=null;#n;disconnectedCallback(){super.disconnectedCallback(),clearTimeout(this.#n)}willUpdate(e){if(!e.has(`query`))return;let t=this.query.get(`search`)??``;t!==this.#e.trim()&&(clearTimeout(this.#n),this.#e=t)}focus(){this.querySelector(`input[type=search]`)?.focus()}#r(e){this.#e=e.target.value,clearTimeout(this.#n),this.#n=setTimeout(()=>this.#i(`search`,this.#e.trim()),200)}#i(e,t){let n=new URLSearchParams(this.query);clearTimeout(this.#n),this.#e.trim()===``?n.delete(`search`):n.set(`search`,this.#e.trim()),t===``?n.delete(e):n.set(e,t),Co(n)!==Co(this.query)&&this.onQuery(n)}async#a(){if(this.#t!==null)return;this.#t=[];let e=await this.context.api.list(`/api/v2/agents`,{limit:200}).catch(()=>null);this.#t=e?.data.map(({agentId:e})=>e)??null,this.requestUpdate()}#o(){return[{name:`state`,label:`State`,values:[`queued`,`running`,`completed`,`failed`,[`cancelled`,`canceled`]]},{name:`provider`,label:`Adapter`,values:this.context.attention.state.adapters.map(({provider:e})=>e)},{name:`agentId`,label:`Agent`,values:null,list:`filter-agents`},{name:`label`,label:`Label`,values:null,example:`name=value`},{name:`created`,label:`Created`,values:Object.entries(Oo).map(([e,{name:t}])=>[e,t])}]}render(){let e=this.#o(),t=[...e.slice(this.inRow),...jo];return C`<search class="task-filters">
      <label class="search-box"
        >${$(mt)}<span class="visually-hidden">Search</span>
        <input
          type="search" .value=${this.#e} maxlength=${200} placeholder="Search by id, title, agent or label" spellcheck="false"
          autocomplete="off" @input=${this.#r}
        /></label>
      ${e.slice(0,this.inRow).map(e=>this.#c(e,!0))}
      ${this.#s(t)}
      ${Co(this.query)===``?T:C`<a class="button plain" href=${W(`tasks`)}>Clear</a>`}
      <datalist id="filter-agents">${(this.#t??[]).map(e=>C`<option value=${e}></option>`)}</datalist>
    </search>`}#s(e){let t=e.filter(({name:e})=>this.query.has(e)).length;return C`<details class="menu" @focusout=${e=>{let t=e.currentTarget;t.contains(e.relatedTarget)||(t.open=!1)}} @keydown=${e=>{if(e.key!==`Escape`)return;let t=e.currentTarget;t.open=!1,t.querySelector(`summary`)?.focus()}}>
      <summary>${$(ut)} ${this.inRow===0?`Filters`:`More filters`} ${t===0?T:C`<span class="count">${t}</span>`}</summary>
      <div class="filter-panel" tabindex="-1">${e.map(e=>this.#c(e,!1))}</div>
    </details>`}#c({name:e,label:t,values:n,example:r,list:i},a){let o=this.query.get(e)??``,s=t=>this.#i(e,t.target.value.trim()),c=a?T:C`<span>${t}</span>`,l=o===``?``:`used`;if(n===`time`)return C`<label>${c} <input type="datetime-local" aria-label=${t} class=${l} .value=${Mt(o)} @change=${t=>this.#i(e,Nt(t.target.value))} /></label>`;if(n===null)return C`<label
        >${c}
        <input
          aria-label=${t} class=${l} .value=${o} @change=${s} @focus=${i===void 0?T:()=>this.#a()}
          list=${i??T} placeholder=${a?t:r??T} title=${r??T}
          spellcheck="false" autocomplete="off"
      /></label>`;let u=n.map(e=>typeof e==`string`?[e,e]:e),d=o===``||u.some(([e])=>e===o);return C`<label
      >${c}
      <select aria-label=${t} class=${l} @change=${s}>
        <option value="" ?selected=${o===``}>${a?t:`any`}</option>
        ${(d?u:[...u,[o,o]]).map(([e,t])=>C`<option value=${e} ?selected=${e===o}>${t}</option>`)}
      </select></label
    >`}};customElements.define(`bridge-task-filters`,Mo);const No=[{name:`Select`,kind:`select`},{name:`State`,kind:`state`},{name:`Task`,kind:`name`},{name:`Agent`,kind:`agent`},{name:`Adapter`,kind:`provider`},{name:`Started`,kind:`started number`},{name:`Duration`,kind:`duration number`},{name:`Last event`,kind:`last number`},{name:`Cost`,kind:`cost number`},{name:`Callback`,kind:`delivery`}],Po=(e,t)=>C`
  <span role="cell" class="state">${B(R(e,t))}</span>
  <span role="cell" class="name"
    ><a href=${G(e.taskId)}>${M(e.title??``)} <span class="detail">${e.taskId}${Un(e)}</span></a>${Fo(e)}</span
  >
  <span role="cell" class="agent">${e.agentId}</span>
  <span role="cell" class="provider">${e.provider}</span>
  <span role="cell" class="started number">${H(e.startedAt??e.createdAt,t)}</span>
  <span role="cell" class="duration number">${Io(e,t)}</span>
  <span role="cell" class="last number">${H(e.lastProgressAt,t)}</span>
  <span role="cell" class="cost number">${z(e)?Pt(e.costUsd):T}</span>
  <span role="cell" class="delivery">${Kn(e.callback)}</span>
`;function Fo({labels:e}){let t=Object.entries(e);if(t.length===0)return T;let n=t.map(([e,t])=>`${e}=${t}`);return C`<span class="labels"
    >${n.map(e=>C`<a class="chip" href=${W(`tasks?${new URLSearchParams({label:e})}`)}>${M(e)}</a>`)}</span
  >`}function Io({startedAt:e,finishedAt:t,state:n},r){if(e===null||t===null&&n!==`running`)return T;let i=Date.parse(e);return xt(t===null?r-i:Date.parse(t)-i)}var Lo=class extends O{static properties={context:{attribute:!1},query:{attribute:!1}};#e=!1;#t(){return wo(localStorage,this.context.identity.tenant)}#n(e){this.#e=e,this.requestUpdate(),this.updateComplete.then(()=>this.querySelector(e?`.view-name`:`.save-view, [aria-current]`)?.focus())}#r(e){e.preventDefault();let t=this.querySelector(`.view-name`)?.value.trim()??``;t!==``&&(this.#t().save({name:t,query:Co(this.query)}),this.#n(!1))}#i(e){this.#t().remove(e),this.#n(!1)}render(){let e=Co(this.query),t=this.#t().list(),n=![...So,...t].some(t=>t.query===e);return C`<div class="views">
      <nav class="tabs" aria-label="Views">
        ${[...So,...t].map(t=>Ro(t,e))}
      </nav>
      ${this.#e?this.#a():n?C`<button class="plain save-view" @click=${()=>this.#n(!0)}>${$(nt)} Save this view</button>`:t.filter(t=>t.query===e).map(({name:e})=>C`<button class="plain" @click=${()=>this.#i(e)}>${$(gt)} Remove this view</button>`)}
    </div>`}#a(){return C`<form class="name-view" @submit=${this.#r} @keydown=${e=>{e.key===`Escape`&&this.#n(!1)}}>
      <input class="view-name" aria-label="Name of the view" placeholder="Name of the view" maxlength=${40} autocomplete="off" required />
      <button class="primary" type="submit">Save</button>
      <button type="button" class="plain" @click=${()=>this.#n(!1)}>Cancel</button>
    </form>`}};const Ro=(e,t)=>C`<a
  class="tab" href=${W(e.query===``?`tasks`:`tasks?${e.query}`)} aria-current=${e.query===t?`true`:T}
  >${e.name}</a
>`;customElements.define(`bridge-task-views`,Lo);const zo=matchMedia(`(max-width: 760px)`),Bo=matchMedia(`(max-width: 1250px)`);var Vo=class extends k{#e=bo();#t=!1;#n=!1;#r=null;#i={first:0,last:0};#a=/* @__PURE__ */ new Map;#o=/* @__PURE__ */ new Set;#s=-1;#c=!1;#l=``;#u=null;#d;#f;#p=()=>{};#m=0;#h=!1;#g=q(this,e=>this.#S(e));#_=!1;#v=()=>{this.#_=!0,this.requestUpdate()};get paintGapMs(){return this.#_?0:100}connectedCallback(){super.connectedCallback(),addEventListener(`scroll`,this.#v,{passive:!0}),addEventListener(`resize`,this.#v),this.#f=setInterval(()=>this.#y(),1e3),this.#p=this.context.feed.subscribe(e=>{if(e===null)return this.#g.refresh();this.#e.patch(e)&&(this.#d??=setTimeout(()=>this.#b(),500)),this.requestUpdate()})}disconnectedCallback(){super.disconnectedCallback(),removeEventListener(`scroll`,this.#v),removeEventListener(`resize`,this.#v),clearTimeout(this.#d),clearInterval(this.#f),this.#p()}#y(){let{first:e,last:t}=this.#i;this.#e.list(e,t).some(({state:e})=>e===`running`)&&this.requestUpdate()}willUpdate(e){let t=e.get(`route`);t!==void 0&&t.query.toString()!==this.route.query.toString()&&(this.#e=bo(),this.#m+=1,this.#h=!1,this.#r=null,this.#t=!1,this.#o.clear(),this.#s=-1,this.#g.refresh())}#b(){this.#d=void 0,this.#g.refresh()}#x(){return Ao(this.route.query,I())}async#S(e){let t=this.#e,n=this.#m,r=t.begin();try{let i=await this.context.api.list(`/api/v2/tasks`,{...this.#x(),limit:100},{signal:e}),a=t.length===0;return t.applyFirst(r,i.data,i.meta.nextCursor!==null),this.#h||=n===this.#m,n===this.#m&&(a||this.#r===null||t.length<=i.data.length)&&(this.#r=i.meta.nextCursor,this.#t=i.meta.nextCursor!==null),!0}catch(e){throw t.abandon(r),e}}async#C(){if(this.#n||this.#r===null)return;this.#n=!0;let e=this.#e,t=e.begin();try{let n={...this.#x(),limit:200,cursor:this.#r},r=await this.context.api.list(`/api/v2/tasks`,n);e.append(t,r.data),e===this.#e&&(this.#r=r.meta.nextCursor,this.#t=this.#r!==null)}catch(n){e.abandon(t),this.#u=n instanceof L?n:null}finally{this.#n=!1,this.requestUpdate()}}#w=e=>{let t=e.toString();K(W(t===``?`tasks`:`tasks?${t}`),{replace:!0})};onKey(e){let{length:t}=this.#e;if(e===`/`)return this.querySelector(`bridge-task-filters`)?.focus(),!0;if((e===`j`||e===`k`)&&t>0)return this.#s=Math.min(t-1,Math.max(0,this.#s+(e===`j`?1:-1))),this.#T(),!0;let[n]=this.#e.list(this.#s,this.#s+1);return e===`x`&&n!==void 0&&(this.#E(n.taskId),!0)}async#T(){let e=this.querySelector(`.window`);if(e===null)return;let t=Uo(),n=e.getBoundingClientRect().top+this.#s*t;n<0?scrollBy(0,n-t):n+t>innerHeight&&scrollBy(0,n+2*t-innerHeight),this.requestUpdate(),await this.updateComplete,this.querySelector(`[data-index="${this.#s}"] a`)?.focus({preventScroll:!0})}#E(e){this.#o.delete(e)||this.#o.add(e),this.#c=!1,this.requestUpdate()}async#D(){let e=[...this.#o];this.#c=!1,this.#l=`Canceling ${e.length} …`,this.requestUpdate();let t=[],n=async()=>{for(let n=e.pop();n!==void 0;n=e.pop()){let e=`/api/v2/tasks/${encodeURIComponent(n)}/cancel`,r=n;await this.context.api.call(e,{method:`POST`}).catch(e=>t.push(`${r}: ${String(e)}`))}},r=e.length;await Promise.all(Array.from({length:4},n)),this.#o.clear(),this.#l=t.length===0?`Cancellation requested for ${r} tasks.`:t.join(`; `),this.#g.refresh(),this.requestUpdate()}updated(){this.#_=!1;let e=this.querySelector(`.window`),t=this.querySelector(`.visible`);if(e===null||t===null)return;let n=`${this.#e.length*Uo()}px`;e.style.height!==n&&(e.style.height=n),t.style.transform=`translateY(${this.#i.first*Uo()}px)`,this.#t&&this.#i.last+60>this.#e.length&&this.#C()}#O(){let e=this.querySelector(`.window`)?.getBoundingClientRect().top??0,t=Math.max(0,Math.floor(-e/Uo())-4);return{first:t,last:Math.min(this.#e.length,t+Math.ceil(innerHeight/Uo())+8)}}render(){let e=I();this.#i=this.#O();let{first:t,last:n}=this.#i,r=this.#e.list(t,n);return this.#k(r),this.#a=yo(this.#a,r.map(({taskId:e})=>e),this.#_),C`
      <h1>Tasks</h1>
      <bridge-task-views .context=${this.context} .query=${this.route.query}></bridge-task-views>
      <bridge-task-filters
        .context=${this.context} .query=${this.route.query} .inRow=${Ho()} .onQuery=${this.#w}
      ></bridge-task-filters>
      ${U(this.#g.error??this.#u)} ${this.#j()}
      ${this.#e.length===0?this.#N():T}
      <div role="table" aria-label="Tasks" aria-rowcount=${this.#t?-1:this.#e.length+1} ?hidden=${this.#e.length===0}>
        <div role="rowgroup">
          <div role="row" class="task-row heading" aria-rowindex="1">
            ${No.map(({name:e,kind:t})=>C`<span role="columnheader" class=${t}>${e}</span>`)}
          </div>
        </div>
        <div role="rowgroup" class="window">
          <div class="visible" role="presentation">
            ${dr(r,({taskId:e})=>this.#a.get(e),(n,r)=>this.#A(n,t+r,e))}
          </div>
        </div>
      </div>
      ${this.#t?C`<p class="hint">${this.#e.length} tasks loaded. Scroll down for more.</p>`:T}
    `}#k(e){let t=document.activeElement,n=t?.closest(`.visible > .task-row`);n!=null&&!e.some(({taskId:e})=>e===n.dataset.task)&&t.blur()}#A(e,t,n){return C`<div role="row" class="task-row" aria-rowindex=${t+2} data-index=${t} data-task=${e.taskId}>
      <span role="cell" class="select"
        ><input
          type="checkbox" aria-label="Select ${e.taskId}" .checked=${ri(this.#o.has(e.taskId))}
          ?disabled=${z(e)} @change=${()=>this.#E(e.taskId)}
      /></span>
      ${Po(e,n)}
    </div>`}#j(){let e=this.#o.size,t=this.#l===``?T:C`<p class="note info" role="status">${M(this.#l)}</p>`;if(e===0||!this.context.identity.scopes.includes(`dispatch`))return t;let n=C`<button class="danger" @click=${()=>this.#M(!0)}>Cancel ${e} ${e===1?`task`:`tasks`}</button>`,r=C`<span>Cancel ${e} and all of their child tasks?</span>
      <button class="danger" @click=${()=>this.#D()}>Yes, cancel</button>
      <button @click=${()=>this.#M(!1)}>No</button>`;return C`<div class="selection">${this.#c?r:n}</div>
      ${t}`}#M(e){this.#c=e,this.requestUpdate()}#N(){return!this.#h||this.#t?this.#g.error===null?C`<p role="status">Loading …</p>`:T:Co(this.route.query)===``?C`<p class="empty">No tasks yet. <a href=${W(`new`)}>Dispatch one</a></p>`:C`<p class="empty">No task matches. <a href=${W(`tasks`)}>Clear the filters</a></p>`}};const Ho=()=>zo.matches?0:Bo.matches?3:5,Uo=()=>zo.matches?82:36;customElements.define(`bridge-tasks`,Vo);const Wo=[`today`,`yesterday`,`7d`,`30d`,`90d`,`365d`],Go={today:`Today`,yesterday:`Yesterday`,"7d":`7 days`,"30d":`30 days`,"90d":`90 days`,"365d":`365 days`},Ko=/^\d{4}-\d{2}-\d{2}$/;function qo(e){let[t,n]=[`from`,`to`].map(t=>e.get(t)??``);if(t!==void 0&&n!==void 0&&$o(t)){let e=$o(n)?n:t;return t<=e?{from:t,to:e}:{from:e,to:t}}return Wo.find(t=>t===e.get(`window`))??`today`}const Jo=e=>typeof e==`string`?{window:e}:{...e};function Yo(e,t){let n=new Date(t),r=e=>new Date(n.getFullYear(),n.getMonth(),n.getDate()-e);if(e===`today`)return{from:r(0),to:null,days:1};if(e===`yesterday`)return{from:r(1),to:r(0),days:1};if(typeof e==`string`){let t=Number.parseInt(e,10);return{from:r(t-1),to:null,days:t}}let[i,a]=[Qo(e.from),Qo(e.to)],o=new Date(a.getFullYear(),a.getMonth(),a.getDate()+1);return{from:i,to:o,days:Math.round((o.getTime()-i.getTime())/864e5)}}function Xo(e){let t=new Date(Date.parse(e)+432e5);return Zo(t)}const Zo=e=>[e.getFullYear(),e.getMonth()+1,e.getDate()].map(e=>String(e).padStart(2,`0`)).join(`-`);function Qo(e){let[t=0,n=1,r=1]=e.split(`-`).map(Number);return new Date(t,n-1,r)}const $o=e=>Ko.test(e)&&Zo(Qo(e))===e,es=new Intl.DateTimeFormat([],{dateStyle:`medium`});function ts(e,t){let{from:n,to:r}=Yo(e,t);return es.formatRange(n,r===null?new Date(t):/* @__PURE__ */ new Date(r.getTime()-1))}const ns=[`today`,`yesterday`,`7d`,`30d`],rs=[`90d`,`365d`];function is(e,{toLink:t,now:n}){let r=(n,r)=>C`<a class=${r} href=${t(n)} aria-current=${n===e?`true`:T}>${Go[n]}</a>`,i=typeof e!=`string`||rs.includes(e),a=typeof e==`string`?Go[e]:e.from===e.to?e.from:`${e.from} – ${e.to}`,o=typeof e==`string`?{from:``,to:``}:e,s=e=>e.currentTarget.closest(`details`)?.removeAttribute(`open`);return C`<div class="range-picker">
    <nav class="tabs" aria-label="Range">${ns.map(e=>r(e,`tab`))}</nav>
    <details class="menu" @focusout=${e=>{e.currentTarget.contains(e.relatedTarget)||s(e)}} @keydown=${e=>{e.key===`Escape`&&(s(e),e.currentTarget.querySelector(`summary`)?.focus())}}>
      <summary class=${i?`used`:``}>${$(rt)} <span class=${i?``:`range-word`}>${i?a:`Range`}</span></summary>
      <div class="range-panel" tabindex="-1">
        <p class="tabs" @click=${s}>${rs.map(e=>r(e,`tab`))}</p>
        <form @submit=${e=>{e.preventDefault();let n=new FormData(e.currentTarget),[r,i]=[`from`,`to`].map(e=>String(n.get(e)??``));r!==void 0&&r!==``&&(s(e),K(t({from:r,to:i===void 0||i===``?r:i})))}}>
          <label>From <input type="date" name="from" .value=${o.from} max=${Zo(new Date(n))} required /></label>
          <label>To <input type="date" name="to" .value=${o.to} max=${Zo(new Date(n))} /></label>
          <button class="primary" type="submit">Show</button>
        </form>
      </div>
    </details>
  </div>`}const as=3600,os=[`agent`,`provider`,`model`,`label`,`day`,`hour`],ss={agent:`Agent`,provider:`Adapter`,model:`Model`,label:`Label`,day:`Day`,hour:`Hour`},cs={tasks:`Tasks`,cost:`Cost`,tokens:`Tokens`};var ls=class extends k{#e=-1;#t=[];#n=()=>{};#r=matchMedia(`(prefers-color-scheme: dark)`);#i=()=>void this.#c();#a=q(this,e=>this.#s(e),{intervalMs:()=>15e3});connectedCallback(){super.connectedCallback(),this.#r.addEventListener(`change`,this.#i)}disconnectedCallback(){super.disconnectedCallback(),this.#r.removeEventListener(`change`,this.#i),this.#n()}#o(){let{query:e}=this.route,t=qo(e),n=os.find(t=>t===e.get(`by`))??`agent`,r=ea.find(t=>t===e.get(`show`))??`tasks`;return{range:t,by:n===`hour`&&Yo(t,I()).days>30?`day`:n,show:r}}async#s(e){let t=this.#o(),{range:n,by:r}=t,{from:i,to:a,days:o}=Yo(n,I()),s={from:i.toISOString(),...a!==null&&{to:a.toISOString()}},c=t=>this.context.api.call(`/api/v2/stats?${new URLSearchParams({...s,by:t,limit:`50`})}`,{signal:e}),l=o<3?`hour`:`day`,[u,d]=await Promise.all([c(r),r===l?null:c(l)]);return{choice:t,table:u,chart:d??u}}updated(){let{value:e}=this.#a,t=this.#o();e!==void 0&&(ps(e.choice,t)?(this.#t[0]!==e||this.#t[1]!==t.show)&&(this.#t=[e,t.show],this.#c()):this.#a.refresh())}async#c(){let e=await import(`./usage-chart-D1Z8GgZj.js`).catch(()=>null),t=this.querySelector(`.chart`),n=this.#a.value?.chart;if(this.#n(),this.#n=()=>{},!this.isConnected||e===null||t===null||n===void 0)return;let{show:r}=this.#o(),i=e=>getComputedStyle(this.querySelector(e)??t).color;this.#n=e.drawBars(t,{times:n.data.map(({key:e})=>Date.parse(e??``)/1e3),stepSeconds:n.by===`hour`?as:24*as,parts:ta[r].map(({kind:e,read:t})=>({color:i(`.swatch.${e}`),values:n.data.map(t)})),color:getComputedStyle(t).color,lineColor:getComputedStyle(t).borderTopColor,format:r===`cost`?Pt:Ft,onBar:n.by===`day`?e=>this.#l(n.data[e]):null})}#l(e){e?.key!=null&&K(hs(e.key,this.#o().show))}onKey(e){if(e!==`j`&&e!==`k`)return!1;let t=this.querySelectorAll(`tbody a`);return this.#e=Math.min(t.length-1,Math.max(0,this.#e+(e===`j`?1:-1))),t[this.#e]?.focus(),!0}render(){let e=this.#o(),{value:t,error:n}=this.#a,r=t!==void 0&&ps(t.choice,e)?t:void 0;return C`
      <div class="page-head usage-head">
        <h1>Usage</h1>
        ${is(e.range,{toLink:t=>ms({...e,range:t}),now:I()})}
      </div>
      <p class="hint">${ts(e.range,I())}. Days and hours are in local time (${kt}).</p>
      ${U(n)} ${r===void 0?C`<p role="status">Loading …</p>`:this.#d(r,e)}
    `}#u(e,t,n,r){let i=this.#o();return C`<nav class="tabs" aria-label=${e}>
      ${n.map(e=>C`<a
          class="tab" href=${ms({...i,[t]:e})} aria-current=${i[t]===e?`true`:T}
          >${r(e)}</a
        >`)}
    </nav>`}#d({table:e,chart:t},{show:n}){let{total:r}=e;return r.tasks===0?C`<p class="empty">No task ended in this window. <a href=${W(`new`)}>Dispatch one</a>, or choose a longer window.</p>`:C`
      ${us(r)}
      <section class="panel chart-panel" aria-label="Chart">
        ${this.#u(`Chart`,`show`,ea,e=>cs[e])}
        <div aria-hidden="true">
          <div class="chart ${t.by===`day`?`clickable`:``}"></div>
          <p class="legend">${ta[n].map(({kind:e,label:t})=>C`<span class="swatch ${e}">■</span> ${t} `)}</p>
        </div>
      </section>
      ${this.#u(`Group by`,`by`,os,e=>ss[e])}
      ${gs(e,n)} ${r.tasksWithoutCost===0?T:fs(r)}
    `}};const us=e=>C`
  <dl class="facts usage-figures">
    ${ds(`Cost`,Zi(e))}
    ${ds(`Input tokens`,Qi(e.inputTokens,e))}
    ${ds(`Output tokens`,Qi(e.outputTokens,e))}
    ${ds(`Tasks`,String(e.tasks),`${e.completed} completed, ${e.failed} failed, ${e.cancelled} canceled`)}
  </dl>
`,ds=(e,t,n=``)=>C`<div><dt>${e}</dt><dd>${t}</dd>${n===``?T:C`<dd class="detail">${n}</dd>`}</div>`,fs=({tasks:e,tasksWithoutCost:t})=>C`
  <p class="note info">
    The cost of ${t} of ${e} tasks is unknown, shown as <code>?</code>: their runtimes reported none. Where Bridge calls a
    model itself, set its price in <code>BRIDGE_MODEL_PRICES</code>, for example
    <code>{"my-model":{"input":3,"output":15}}</code> in US dollars per million tokens. The price applies to tasks that end after the restart.
  </p>
`,ps=(e,t)=>e.by===t.by&&new URLSearchParams(Jo(e.range)).toString()===new URLSearchParams(Jo(t.range)).toString(),ms=({range:e,by:t,show:n})=>W(`usage?${new URLSearchParams({...Jo(e),by:t,show:n})}`),hs=(e,t)=>ms({range:{from:Xo(e),to:Xo(e)},by:`agent`,show:t});function gs({by:e,data:t,other:n},r){let i=[ss[e],`Cost`,`Tasks`,`Completed`,`Failed`,`Canceled`,`Input tokens`,`Cached`,`Output tokens`,`Run time`],a=e===`hour`||e===`day`?t.filter(({tasks:e})=>e>0).toReversed():t;return C`
    <div class="scroll usage-table" tabindex="0" role="region" aria-label="Usage by ${ss[e]}">
      <table class="usage">
        <thead>
          <tr>${i.map(e=>C`<th scope="col">${e}</th>`)}</tr>
        </thead>
        <tbody>
          ${a.map(t=>_s(vs(e,t,r),t))}
          ${n===null?T:_s(`all others`,n)}
        </tbody>
      </table>
    </div>
    ${e===`label`?C`<p class="hint">A task with several labels is in several rows.</p>`:T}
    ${a.length===0&&n===null?C`<p class="empty">No task in this window has a label.</p>`:T}
  `}const _s=(e,t)=>C`
  <tr>
    <th scope="row">${e}</th>
    <td class="cost">${Zi(t)}</td>
    <td>${t.tasks}</td>
    <td>${t.completed}</td>
    <td>${t.failed}</td>
    <td>${t.cancelled}</td>
    <td>${Qi(t.inputTokens,t)}</td>
    <td>${Qi(t.cacheReadTokens,t)}</td>
    <td>${Qi(t.outputTokens,t)}</td>
    <td>${j(t.durationMs)}</td>
  </tr>
`;function vs(e,{key:t},n){return t===null?`?`:e===`hour`?Ot(t,I()):e===`day`?C`<a href=${hs(t,n)}>${Xo(t)}</a>`:e===`agent`?C`<a href=${W(`tasks?${new URLSearchParams({agentId:t})}`)}>${t}</a>`:e===`provider`?C`<a href=${W(`tasks?${new URLSearchParams({provider:t})}`)}>${t}</a>`:e===`label`?C`<a href=${W(`tasks?${new URLSearchParams({label:t})}`)}>${M(t)}</a>`:M(t)}customElements.define(`bridge-usage`,ls);const ys=[`dead`,`pending`,`delivered`];var bs=class extends k{#e=``;#t=null;#n=1;#r=-1;#i=null;#a=q(this,async e=>(await this.context.api.list(`/api/v2/webhooks`,{limit:100},{signal:e})).data);#o=q(this,e=>this.#l(e));#s(){this.#a.refresh(),this.#o.refresh()}#c(){let{query:e}=this.route;return{name:e.get(`name`)??``,state:ys.find(t=>t===e.get(`state`))??`dead`}}async#l(e){let{name:t,state:n}=this.#c(),r=JSON.stringify({name:t,state:n});if(r!==this.#i&&(this.#n=1),this.#i=r,t===``)return null;let i=`/api/v2/webhooks/${encodeURIComponent(t)}/deliveries`,a={pages:this.#n,pageLength:100,signal:e};return{...await Nr(this.context.api,i,{state:n},a),name:t,state:n}}updated(){this.#i!==null&&this.#i!==JSON.stringify(this.#c())&&this.#o.refresh()}#u(e){let{name:t,state:n}=this.#c();return e?.name===t?e.state===n:t===``}onKey(e){if(e!==`j`&&e!==`k`)return!1;let t=this.querySelectorAll(`.webhook a, .delivery button`);return this.#r=Math.min(t.length-1,Math.max(0,this.#r+(e===`j`?1:-1))),t[this.#r]?.focus(),!0}#d(e,t){let n=`/api/v2/webhooks/${encodeURIComponent(e)}/deliveries/${encodeURIComponent(t)}/redeliver`;return this.#h(async()=>(await this.context.api.call(n,{method:`POST`}),`Redelivery started.`))}#f(e){return this.#t=null,this.#h(async()=>`Redelivery of ${Fr(`delivery`,await Pr(this.context.api,{kind:`delivery`,receiver:e}))} started.`)}#p(e){this.#t=e,this.requestUpdate()}#m(){this.#n+=1,this.#o.refresh()}async#h(e){this.#e=await e().catch(e=>e instanceof L?e.message:String(e)),this.context.attention.refresh(),this.#s(),this.requestUpdate()}render(){let{value:e,error:t}=this.#a;return C`
      <h1>Webhooks</h1>
      ${U(t)} ${this.#e===``?T:C`<p class="note info" role="status">${M(this.#e)}</p>`}
      ${e===void 0?t===null?C`<p role="status">Loading …</p>`:T:this.#g(e)}
      ${this.#c().name===``?T:this.#_()}
    `}#g(e){if(e.length===0)return Cs();let{name:t}=this.#c();return C`<ul class="rows">
      ${e.map(({name:e,origin:n,types:r,filter:i,pending:a,dead:o})=>C`<li class="webhook">
          <a href=${W(`webhooks?name=${encodeURIComponent(e)}`)} aria-current=${e===t?`true`:T}>${e}</a>
          <span>${n}</span>
          <span class="detail">${r.join(`, `)}${Ss(i)}</span>
          ${xs(`pending`,a)} ${xs(`dead`,o)}
        </li>`)}
    </ul>`}#_(){let{name:e,state:t}=this.#c(),{value:n,error:r}=this.#o,i=t=>W(`webhooks?name=${encodeURIComponent(e)}&state=${t}`);return C`<section aria-labelledby="deliveries">
      <h2 id="deliveries">Deliveries to ${M(e)}</h2>
      <p class="tabs">
        ${ys.map(e=>C`<a class="tab" href=${i(e)} aria-current=${e===t?`page`:T}>${e}</a>`)}
      </p>
      ${U(r)} ${t===`dead`?this.#y(e):T}
      ${this.#u(n)&&n?this.#v(n):r===null?C`<p role="status">Loading …</p>`:T}
    </section>`}#v({name:e,state:t,data:n,meta:r}){if(n.length===0)return C`<p class="empty">No delivery is ${t}.</p>`;let i=I();return C`<ul class="rows">
        ${dr(n,({deliveryId:e})=>e,t=>this.#b(e,t,i))}
      </ul>
      ${r.nextCursor===null?T:C`<button class="plain" @click=${this.#m}>Show ${100} more</button>`}`}#y(e){let t=this.#a.value?.find(t=>t.name===e)?.dead??0;return t===0||!this.context.identity.scopes.includes(`dispatch`)?T:this.#t===e?C`<p class="actions">
      <span role="status">Redeliver ${Fr(`delivery`,t)} to ${M(e)}?</span>
      <button @click=${()=>this.#f(e)}>Yes, redeliver</button>
      <button @click=${()=>this.#p(null)}>No</button>
    </p>`:C`<p class="actions"><button @click=${()=>this.#p(e)}>Redeliver all dead</button></p>`}#b(e,t,n){let{deliveryId:r,type:i,taskId:a,state:o,updatedAt:s}=t,c=o===`dead`&&this.context.identity.scopes.includes(`dispatch`);return C`<li class="delivery">
      ${Kn(t)} <code>${i}</code> ${a===null?T:C`<a href=${G(a)}>${a}</a>`}
      <span class="detail">${Ir(t,n)}</span>
      ${H(s,n)}
      ${c?C`<button @click=${()=>this.#d(e,r)} aria-label="Redeliver ${i}${a===null?``:` of ${a}`}">
              Redeliver
            </button>`:T}
    </li>`}};const xs=(e,t)=>C`<span class="badge ${t===0?``:`callback-${e}`}">${t} ${e}</span>`;function Ss({agentId:e,provider:t,labels:n={}}){let r=Object.entries({agent:e,adapter:t,...n}).filter(([,e])=>e!==void 0);return r.length===0?``:` · ${r.map(([e,t])=>`${e}=${t}`).join(`, `)}`}const Cs=()=>C`
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
`;customElements.define(`bridge-webhooks`,bs);var ws=class extends O{static properties={context:{attribute:!1},commands:{attribute:!1}};#e=``;#t=[];#n=0;#r=!1;#i;#a=null;open(){this.#e=``,this.#t=[],this.#n=0,this.#r=!0,this.requestUpdate(),this.updateComplete.then(()=>this.querySelector(`dialog`)?.showModal())}disconnectedCallback(){super.disconnectedCallback(),clearTimeout(this.#i),this.#a?.abort()}#o(){let e=this.#e.toLowerCase().split(/\s+/),t=this.commands.filter(({name:t,kind:n})=>e.every(e=>`${n} ${t}`.toLowerCase().includes(e))),n=this.#t.map(e=>({name:e.title??e.taskId,kind:`task`,task:e,run:()=>K(G(e.taskId))}));return this.#e===``?t:[...t.slice(0,8),...n]}#s(e){this.#e=e.target.value.trim(),this.#n=0,clearTimeout(this.#i),this.#i=setTimeout(()=>void this.#c(),150),this.requestUpdate()}async#c(){this.#a?.abort(),this.#a=new AbortController;let{signal:e}=this.#a;if(this.#e===``)this.#t=[];else{let t=await this.#l(e).catch(()=>[]);if(e.aborted)return;this.#t=t}this.requestUpdate()}async#l(e){let t={search:this.#e,limit:8},n=await this.context.api.list(`/api/v2/tasks`,t,{signal:e}),r=n.meta.nextCursor;if(r===null||n.data.length===8)return n.data;let i=await this.context.api.list(`/api/v2/tasks`,{...t,cursor:r},{signal:e});return[...n.data,...i.data].slice(0,8)}#u(e){let t=this.#o();if(e.key===`ArrowDown`||e.key===`ArrowUp`){let n=e.key===`ArrowDown`?1:t.length-1;this.#n=t.length===0?0:(this.#n+n)%t.length,this.requestUpdate()}else if(e.key===`Enter`)this.#d(t[this.#n]);else return;e.preventDefault()}#d(e){e!==void 0&&(this.querySelector(`dialog`)?.close(),e.run())}updated(){this.querySelector(`[aria-selected=true]`)?.scrollIntoView({block:`nearest`})}render(){let e=this.#r?this.#o():[];return C`<dialog class="command-menu" aria-label="Search or jump to" @click=${this.#m} @close=${this.#p}>
      ${this.#r?this.#f(e):T}
    </dialog>`}#f(e){return C`
      <input
        type="search" role="combobox" aria-label="Search or jump to" aria-expanded="true"
        aria-controls="command-choices" aria-activedescendant=${e.length===0?T:`choice-${this.#n}`}
        placeholder="Page, action, or task by id, title, agent or label" autocomplete="off" spellcheck="false"
        .value=${this.#e} @input=${this.#s} @keydown=${this.#u}
      />
      <ul id="command-choices" role="listbox" aria-label="Matches">
        ${e.map((e,t)=>C`<li
            id="choice-${t}" role="option" aria-selected=${t===this.#n} @click=${()=>this.#d(e)}
          >${Ts(e)}</li>`)}
      </ul>
      ${e.length===0?C`<p class="empty" role="status">Nothing matches.</p>`:T}`}#p(){this.#r=!1,this.requestUpdate()}#m(e){e.target instanceof HTMLDialogElement&&e.target.close()}};const Ts=({name:e,kind:t,task:n})=>n===void 0?C`<span>${M(e)}</span> <span class="detail">${t}</span>`:C`${B(R(n,I()))} <span>${M(e)}</span>
        <span class="detail">${n.taskId} · ${n.agentId}</span>`;customElements.define(`bridge-command-menu`,ws);function Es({api:e,feed:t}){let n=/* @__PURE__ */ new Set,r=new AbortController,i={approvals:[],hasMoreApprovals:!1,faults:{data:[],counts:{approval:0,failure:0,callback:0,delivery:0,adapter:0},receivers:[]},faultsAt:0,adapters:[],error:null,isLoaded:!1},a,o=!1,s=!1;async function c(){if(o){s=!0;return}o=!0,s=!1;let{signal:t}=r;try{let n=I(),[r,a,o]=await Promise.all([Ds(e,t),e.call(`/api/v2/attention?limit=5`,{signal:t}),e.list(`/api/v2/adapters`,{limit:200},{signal:t})]);i={approvals:r.approvals,hasMoreApprovals:r.hasMore,faults:a,faultsAt:n,adapters:o.data,error:null,isLoaded:!0}}catch(e){if(t.aborted)return;i={...i,error:e instanceof L?e:new L(0,`unexpected`,String(e))}}finally{o=!1}if(!t.aborted){for(let e of n)e();l(s?0:document.hidden?2e4:5e3)}}function l(e){clearTimeout(a),a=setTimeout(()=>void c(),e)}let u=t.subscribe(e=>{(e?.some(({type:e})=>e!==`execution.started`&&e!==`execution.completed`)??!0)&&l(100)}),d=()=>{document.hidden||l(0)};return document.addEventListener(`visibilitychange`,d),c(),{get state(){return i},subscribe(e){return n.add(e),()=>void n.delete(e)},refresh:()=>l(0),close(){r.abort(),clearTimeout(a),u(),n.clear(),document.removeEventListener(`visibilitychange`,d)}}}async function Ds(e,t){let n=[],r;for(let i=0;i<10;i+=1){let i={state:`pending`,order:`oldest`,limit:200-n.length,cursor:r},{data:a,meta:o}=await e.list(`/api/v2/approvals`,i,{signal:t});if(n.push(...a),o.nextCursor===null)return{approvals:n,hasMore:!1};if(n.length===200)break;r=o.nextCursor}return{approvals:n,hasMore:!0}}const Os=[`execution.started`,`execution.completed`,`execution.failed`,`tool.approval_requested`,`tool.approval_resolved`,`callback.delivered`,`callback.dead`];function ks(e,t){let n=yn({url:Fn,token:e,retryDelayMs:150,patienceMs:2**53-1,parseJson:An}),r=/* @__PURE__ */ new Set,i=null,a=null,o,s=[],c,l,u=e=>{for(let t of r)t(e)};function d(e){u(e),a?.postMessage({events:e,lastId:o})}function f(){c=void 0;let e=s;s=[],d(e)}async function p(e){let t=()=>d(null),r=o===void 0?{signal:e,onGap:t}:{signal:e,onGap:t,after:o};for await(let e of n.events({types:Os},r))o=e.id,s.push(js(e)),c??=setTimeout(f,50)}async function m(t){let{signal:n}=t;try{let t=await As(e);if(n.throwIfAborted(),t===null)return await p(n);a=new BroadcastChannel(t),a.onmessage=({data:e})=>{o=e.lastId,u(e.events)},await navigator.locks.request(t,{signal:n},()=>p(n))}catch(e){if(n.aborted)return;if(e instanceof P&&e.status===401)return await h(t);console.error(`The event stream failed.`,e)}}async function h(e){a?.close(),a=null;let n=await t();await new Promise(e=>setTimeout(e,150)),n&&!e.signal.aborted&&await m(e)}function g(){i===null&&(i=new AbortController,m(i))}function _(){i?.abort(),i=null,a?.close(),a=null}function v(){clearTimeout(l),document.hidden?l=setTimeout(_,6e4):i===null&&(g(),u(null))}return document.addEventListener(`visibilitychange`,v),g(),{subscribe(e){return r.add(e),()=>void r.delete(e)},followTask:(e,t)=>n.events(e,t),close(){document.removeEventListener(`visibilitychange`,v),clearTimeout(l),clearTimeout(c),r.clear(),_()}}}async function As(e){if(!isSecureContext)return null;let t=await crypto.subtle.digest(`SHA-256`,new TextEncoder().encode(`bridge stream ${e}`));return`bridge-${Array.from(new Uint8Array(t),e=>e.toString(16).padStart(2,`0`)).join(``)}`}function js({type:e,taskId:t,agentId:n,provider:r,timestamp:i,data:a}){let{errorCode:o=null,approvalId:s=null}=a;return{type:e,taskId:t,agentId:n,provider:r,timestamp:i,errorCode:o,approvalId:s}}function Ms(){let{hash:e,pathname:t,search:n}=location;return e.startsWith(`#t=`)?(history.replaceState(history.state,``,t+n),e.slice(3)):null}async function Ns(e){let t={method:`POST`,body:{ticket:e}};return(await Rn(null,()=>{}).call(`/api/v2/sessions`,t)).token}const Ps=`bridge.token`,Fs=`Bridge no longer accepts this token. It has expired or was revoked. Sign in with another one.`;async function Is(e){let t=await e.call(`/api/v2/me`),{version:n}=await e.call(`/`);return{identity:t,version:n}}function Ls(e){let t={kind:`signed-out`,reason:null},n=()=>{},r=0,i=n=>{t=n,e()};function a(){return n(),n=()=>{},r+=1,r}function o(e){a(),sessionStorage.removeItem(Ps),localStorage.removeItem(Ps),i({kind:`signed-out`,reason:e})}async function s(e,{isNew:t}){let n=a(),s=t?`Bridge does not know this token. Copy the whole token: the file data/token contains it, unless the operator configured tokens.`:Fs;i({kind:`checking`});let l=async()=>!await Bs(e)||(r===n&&o(s),!1),u=Rn(e,()=>void l());for(;r===n;)try{let t=await Is(u);s=Fs,r===n&&c({...t,api:u,token:e},l);return}catch(e){if(r!==n)return;e instanceof L&&e.status===401||i({kind:`unreachable`,detail:Ws(e)}),await new Promise(e=>setTimeout(e,1e3))}}function c(e,t){let{parts:r,close:a}=Rs(e,t);n=a,i({kind:`signed-in`,context:{...e,...r}})}function l(e,t={isNew:!1}){sessionStorage.setItem(Ps,e),s(e,t)}async function u(e){let t=a();i({kind:`checking`});let o=Us();try{let a=await Ns(e),s=()=>zs(Rn(a,()=>{})),[c,u]=await Promise.all([Vs(a),o===null?null:Vs(o)]);if(r!==t)return s();if(c===null||u===null||Hs(c,u))return l(a);n=s,i({kind:`confirming`,present:u,offered:c,accept:()=>{n=()=>{},l(a)},decline:d})}catch(e){if(r!==t)return;if(o!==null)return d();i({kind:`signed-out`,reason:Ws(e)})}}function d(){let e=Us();e===null?i({kind:`signed-out`,reason:null}):s(e,{isNew:!1})}function f(){let e=Ms();return e!==null&&u(e),e!==null}return{get state(){return t},resume(){f()||d()},followLink:f,signIn(e,{remember:t}){t&&localStorage.setItem(Ps,e),l(e,{isNew:!0})},signOut(){t.kind===`signed-in`&&t.context.token.startsWith(`ses_`)&&zs(t.context.api),o(null)}}}function Rs({token:e,api:t},n){let r=ks(e,n),i=Es({api:t,feed:r});return{parts:{feed:r,attention:i},close(){i.close(),r.close()}}}function zs(e){e.call(`/api/v2/sessions/current`,{method:`DELETE`}).catch(()=>{})}const Bs=e=>Vs(e).then(e=>e===null,()=>!1);async function Vs(e){try{return await Rn(e,()=>{}).call(`/api/v2/me`)}catch(e){if(e instanceof L&&e.status===401)return null;throw e}}const Hs=(e,t)=>e.name===t.name&&e.tenant===t.tenant,Us=()=>sessionStorage.getItem(Ps)??localStorage.getItem(Ps),Ws=e=>e instanceof L?e.message:String(e),Gs={overview:`Overview`,tasks:`Tasks`,task:`Task`,new:`New task`,approvals:`Approvals`,callbacks:`Callbacks`,webhooks:`Webhooks`,adapters:`Adapters`,usage:`Usage`,missing:`Not found`},Ks=[{page:`overview`,path:``,sign:ct},{page:`tasks`,path:`tasks`,sign:lt},{page:`approvals`,path:`approvals`,sign:at},{page:`callbacks`,path:`callbacks`,sign:ht},{page:`webhooks`,path:`webhooks`,sign:tt},{page:`adapters`,path:`adapters`,sign:ft},{page:`usage`,path:`usage`,sign:it}];var qs=class extends O{#e=Ls(()=>this.#a());#t=Tr();#n=ir();#r=this.#n.id;#i=()=>{};connectedCallback(){super.connectedCallback(),addEventListener(`popstate`,()=>this.#s()),addEventListener(`hashchange`,()=>this.#e.followLink()),this.addEventListener(_t,e=>{this.#r=e.detail,this.#o()}),addEventListener(`click`,e=>this.#c(e)),addEventListener(`keydown`,e=>this.#l(e)),this.#e.resume()}#a(){let{state:e}=this.#e;this.#i(),this.#t.reset(),this.#i=e.kind===`signed-in`?e.context.attention.subscribe(()=>this.#o()):()=>{},e.kind===`signed-in`?this.#o():this.#t.update(`Sign in`,{approvals:[],hasMoreApprovals:!1}),this.requestUpdate()}#o(){let{state:e}=this.#e;if(e.kind!==`signed-in`)return;let t=this.#n.page===`task`?this.#r:Gs[this.#n.page];this.#t.update(t,e.context.attention.state),this.requestUpdate()}#s(){this.#e.followLink();let e=this.#n;this.#n=ir(),e.id!==this.#n.id&&(this.#r=this.#n.id),this.#o(),(e.page!==this.#n.page||e.id!==this.#n.id)&&(scrollTo(0,0),this.updateComplete.then(()=>this.querySelector(`main`)?.focus({preventScroll:!0})))}#c(e){let t=ar(e);t!==null&&this.#e.state.kind===`signed-in`&&(e.preventDefault(),K(t))}#l(e){if(e.key===`k`&&(e.ctrlKey||e.metaKey)&&document.querySelector(`dialog[open]`)===null){e.preventDefault(),this.#d();return}if(e.ctrlKey||e.metaKey||e.altKey||Xs(e))return;let t=this.querySelector(`dialog.help`);e.key===`?`&&t!==null?(e.preventDefault(),t.open?t.close():t.showModal()):document.querySelector(`dialog[open]`)===null&&this.querySelector(`[data-page]`)?.onKey(e.key,e)===!0&&e.preventDefault()}render(){let{state:e}=this.#e;switch(e.kind){case`signed-out`:return C`<bridge-sign-in
          .reason=${e.reason}
          .onSignIn=${(e,t)=>this.#e.signIn(e,t)}
        ></bridge-sign-in>`;case`checking`:return C`<main class="sign-in"><p role="status">Signing in …</p></main>`;case`unreachable`:return C`<main class="sign-in">
          <h1>Bridge</h1>
          <p class="note error" role="alert">${M(e.detail)}</p>
          <p role="status">Trying again …</p>
          <button @click=${()=>this.#e.signOut()}>Sign out</button>
        </main>`;case`confirming`:return Js(e);case`signed-in`:return this.#u(e.context)}}#u(e){let{identity:t,version:n,attention:r}=e,{page:i,id:a}=this.#n;return C`
      <a class="skip" href="#main" @click=${e=>this.#h(e)}>Skip to the content</a>
      <header class="shell">
        <a class="brand" href=${W(``)}>${wr} Bridge</a>
        <a class="button primary new" href=${W(`new`)} aria-current=${i===`new`?`page`:T}
          >${$(pt)}<span>New task</span></a
        >
        <button class="find" @click=${()=>this.#d()} aria-keyshortcuts="Control+K Meta+K">
          ${$(mt)}<span>Search</span><kbd aria-hidden="true">Ctrl K</kbd>
        </button>
        <nav aria-label="Pages">${Ks.map(t=>this.#p(t,e))}</nav>
        <div class="who">
          ${Ys(r.state.error)?C`<span class="connection lost" role="status">reconnecting …</span>`:C`<span class="connection" role="status">live</span>`}
          <dl>
            <div><dt>Token</dt><dd>${t.name}</dd></div>
            <div><dt>Tenant</dt><dd>${t.tenant}</dd></div>
            <div><dt>Version</dt><dd>${n}</dd></div>
          </dl>
          <button class="plain" title="${t.name}, tenant ${t.tenant}" @click=${()=>this.#e.signOut()}>${$(dt)} Sign out</button>
        </div>
      </header>
      <main id="main" tabindex="-1">${Ze(`${i}/${a}`,this.#m(e))}</main>
      <bridge-command-menu .context=${e} .commands=${this.#f(e)}></bridge-command-menu>
      ${Qs()}
    `}#d(){this.querySelector(`bridge-command-menu`)?.open()}#f({attention:e}){let t=(e,t,n=`page`)=>({name:e,kind:n,run:()=>K(W(t))});return[...Ks.map(({page:e,path:n})=>t(Gs[e],n)),t(`New task`,`new`,`action`),t(`Running tasks`,`tasks?state=running`,`view`),t(`Failed tasks`,`tasks?state=failed`,`view`),{name:`Show the keys`,kind:`action`,run:()=>this.querySelector(`dialog.help`)?.showModal()},{name:`Sign out`,kind:`action`,run:()=>this.#e.signOut()},...e.state.adapters.map(({provider:e})=>t(e,`tasks?provider=${encodeURIComponent(e)}`,`tasks of adapter`))]}#p({page:e,path:t,sign:n},{attention:r}){let{approvals:i,hasMoreApprovals:a,faults:o}=r.state,s={approvals:zt(i.length,a),callbacks:String(o.counts.callback),webhooks:String(o.counts.delivery)}[e]??`0`,c=this.#n.page===e||this.#n.page===`task`&&e===`tasks`;return C`<a href=${W(t)} aria-current=${c?`page`:T}
      >${$(n)} ${Gs[e]}${s===`0`?T:C` <span class="count">${s}</span>`}</a
    >`}#m(e){let t=this.#n;switch(t.page){case`overview`:return C`<bridge-overview data-page .context=${e} .route=${t}></bridge-overview>`;case`new`:return C`<bridge-new data-page .context=${e} .route=${t}></bridge-new>`;case`approvals`:return C`<bridge-approvals data-page .context=${e} .route=${t}></bridge-approvals>`;case`callbacks`:return C`<bridge-callbacks data-page .context=${e} .route=${t}></bridge-callbacks>`;case`webhooks`:return C`<bridge-webhooks data-page .context=${e} .route=${t}></bridge-webhooks>`;case`adapters`:return C`<bridge-adapters data-page .context=${e} .route=${t}></bridge-adapters>`;case`usage`:return C`<bridge-usage data-page .context=${e} .route=${t}></bridge-usage>`;case`tasks`:return C`<bridge-tasks data-page .context=${e} .route=${t}></bridge-tasks>`;case`task`:return C`<bridge-task data-page .context=${e} .route=${t}></bridge-task>`;default:return C`<h1>Not found</h1>
          <p>The console has no such page. <a href=${W(``)}>Overview</a></p>`}}#h(e){e.preventDefault(),this.querySelector(`#main`)?.focus()}};const Js=({present:e,offered:t,accept:n,decline:r})=>C`
  <main class="sign-in">
    <h1>Bridge</h1>
    <p role="alert">
      You are signed in as ${e.name} (tenant ${e.tenant}). Sign in as ${t.name} (tenant ${t.tenant})?
    </p>
    <p class="hint">Continue only if you created this link or expected it.</p>
    <button class="primary" @click=${r}>Stay signed in as ${e.name}</button>
    <button @click=${n}>Sign in as ${t.name}</button>
  </main>
`,Ys=e=>e!==null&&(e.status===0||e.status>=500);function Xs(e){let[t]=e.composedPath();return t instanceof HTMLElement&&t.matches(`input:not([type=checkbox]), textarea, select, [contenteditable]`)}const Zs=[[`Ctrl-K`,`search or jump to`],[`/`,`search or filter`],[`j, k`,`next or previous row`],[`Enter`,`open the row`],[`x`,`select the row`],[`a a, r r`,`approve or reject the selected tool call`],[`?`,`this help`]],Qs=()=>C`
  <dialog class="help" aria-labelledby="help-title">
    <h2 id="help-title">Keys</h2>
    <dl>${Zs.map(([e,t])=>C`<dt><kbd>${e}</kbd></dt><dd>${t}</dd>`)}</dl>
    <form method="dialog" @submit=${$s}><button>Close</button></form>
  </dialog>
`;function $s(e){e.preventDefault(),e.target.closest(`dialog`)?.close()}customElements.define(`bridge-app`,qs);