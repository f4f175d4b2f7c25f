import{$ as e,A as t,B as n,C as r,D as i,E as a,G as o,H as s,I as c,J as l,K as u,L as d,M as f,N as p,O as m,P as h,Q as g,R as _,S as v,T as y,U as b,V as x,W as ee,X as S,Y as C,Z as w,_ as T,a as E,b as D,c as O,d as te,f as k,g as ne,h as re,i as A,j as ie,k as j,l as ae,m as oe,n as se,o as M,p as ce,q as le,r as ue,s as N,u as P,v as F,w as de,x as fe,y as pe,z as me}from"./shared-Cc4RnNdl.js";
/**
* @license
* Copyright 2021 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/const he=le(class extends l{constructor(){super(...arguments),this.key=S}render(e,t){return this.key=e,t}update(e,[t,n]){return t!==this.key&&(b(e),this.key=t),n}}),ge={xmlns:`http://www.w3.org/2000/svg`,width:24,height:24,viewBox:`0 0 24 24`,fill:`none`,stroke:`currentColor`,"stroke-width":2,"stroke-linecap":`round`,"stroke-linejoin":`round`},_e=([e,t,n])=>{
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
let r=document.createElementNS(`http://www.w3.org/2000/svg`,e);return Object.keys(t).forEach(e=>{r.setAttribute(e,String(t[e]))}),n?.length&&n.forEach(e=>{let t=_e(e);r.appendChild(t)}),r},ve=(e,t={})=>{let n={...ge,...t};return _e([`svg`,n,e])},ye=[[`path`,{d:`M10.268 21a2 2 0 0 0 3.464 0`}],[`path`,{d:`M3.262 15.326A1 1 0 0 0 4 17h16a1 1 0 0 0 .74-1.673C19.41 13.956 18 12.499 18 8A6 6 0 0 0 6 8c0 4.499-1.411 5.956-2.738 7.326`}]],be=[[`path`,{d:`M12 7v6`}],[`path`,{d:`M15 10H9`}],[`path`,{d:`M17 3a2 2 0 0 1 2 2v15a1 1 0 0 1-1.496.868l-4.512-2.578a2 2 0 0 0-1.984 0l-4.512 2.578A1 1 0 0 1 5 20V5a2 2 0 0 1 2-2z`}]],xe=[[`path`,{d:`M5 21v-6`}],[`path`,{d:`M12 21V3`}],[`path`,{d:`M19 21V9`}]],Se=[[`path`,{d:`M21.801 10A10 10 0 1 1 17 3.335`}],[`path`,{d:`m9 11 3 3L22 4`}]],Ce=[[`circle`,{cx:`12`,cy:`12`,r:`10`}],[`path`,{d:`m16 9-5.5 5.5L8 12`}]],we=[[`rect`,{width:`14`,height:`14`,x:`8`,y:`8`,rx:`2`,ry:`2`}],[`path`,{d:`M4 16c-1.1 0-2-.9-2-2V4c0-1.1.9-2 2-2h10c1.1 0 2 .9 2 2`}]],Te=[[`circle`,{cx:`12`,cy:`12`,r:`1`}],[`circle`,{cx:`19`,cy:`12`,r:`1`}],[`circle`,{cx:`5`,cy:`12`,r:`1`}]],Ee=[[`rect`,{width:`7`,height:`9`,x:`3`,y:`3`,rx:`1`}],[`rect`,{width:`7`,height:`5`,x:`14`,y:`3`,rx:`1`}],[`rect`,{width:`7`,height:`9`,x:`14`,y:`12`,rx:`1`}],[`rect`,{width:`7`,height:`5`,x:`3`,y:`16`,rx:`1`}]],De=[[`path`,{d:`M13 5h8`}],[`path`,{d:`M13 12h8`}],[`path`,{d:`M13 19h8`}],[`path`,{d:`m3 17 2 2 4-4`}],[`path`,{d:`m3 7 2 2 4-4`}]],Oe=[[`path`,{d:`M2 5h20`}],[`path`,{d:`M6 12h12`}],[`path`,{d:`M9 19h6`}]],ke=[[`path`,{d:`m16 17 5-5-5-5`}],[`path`,{d:`M21 12H9`}],[`path`,{d:`M9 21H5a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2h4`}]],Ae=[[`path`,{d:`M12 22v-5`}],[`path`,{d:`M15 8V2`}],[`path`,{d:`M17 8a1 1 0 0 1 1 1v4a4 4 0 0 1-4 4h-4a4 4 0 0 1-4-4V9a1 1 0 0 1 1-1z`}],[`path`,{d:`M9 8V2`}]],je=[[`path`,{d:`M5 12h14`}],[`path`,{d:`M12 5v14`}]],Me=[[`path`,{d:`m21 21-4.34-4.34`}],[`circle`,{cx:`11`,cy:`11`,r:`8`}]],Ne=[[`path`,{d:`M14.536 21.686a.5.5 0 0 0 .937-.024l6.5-19a.496.496 0 0 0-.635-.635l-19 6.5a.5.5 0 0 0-.024.937l7.93 3.18a2 2 0 0 1 1.112 1.11z`}],[`path`,{d:`m21.854 2.147-10.94 10.939`}]],Pe=[[`path`,{d:`M18 6 6 18`}],[`path`,{d:`m6 6 12 12`}]],Fe=(e,t,n)=>{
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
/**
* @license
* Copyright 2017 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/
let r=/* @__PURE__ */ new Map;for(let i=t;i<=n;i++)r.set(e[i],i);return r},Ie=le(class extends l{constructor(e){if(super(e),e.type!==C.CHILD)throw Error(`repeat() can only be used in text expressions`)}dt(e,t,n){let r;n===void 0?n=t:t!==void 0&&(r=t);let i=[],a=[],o=0;for(let t of e)i[o]=r?r(t,o):o,a[o]=n(t,o),o++;return{values:a,keys:i}}render(e,t,n){return this.dt(e,t,n).values}update(e,[t,n,r]){let i=x(e),{values:a,keys:c}=this.dt(t,n,r);if(!Array.isArray(i))return this.ut=c,a;let l=this.ut??=[],d=[],f,p,m=0,h=i.length-1,g=0,_=a.length-1;for(;m<=h&&g<=_;)if(i[m]===null)m++;else if(i[h]===null)h--;else if(l[m]===c[g])d[g]=o(i[m],a[g]),m++,g++;else if(l[h]===c[_])d[_]=o(i[h],a[_]),h--,_--;else if(l[m]===c[_])d[_]=o(i[m],a[_]),u(e,d[_+1],i[m]),m++,_--;else if(l[h]===c[g])d[g]=o(i[h],a[g]),u(e,i[m],i[h]),h--,g++;else if(f===void 0&&(f=Fe(c,g,_),p=Fe(l,m,h)),f.has(l[m])){if(f.has(l[h])){let t=p.get(c[g]),n=t===void 0?null:i[t];if(n===null){let t=u(e,i[m]);o(t,a[g]),d[g]=t}else d[g]=o(n,a[g]),u(e,i[m],n),i[t]=null;g++}else s(i[h]),h--}else s(i[m]),m++;for(;g<=_;){let t=u(e,d[_+1]);o(t,a[g]),d[g++]=t}for(;m<=h;){let e=i[m++];e!==null&&s(e)}return this.ut=c,b(e,d),w}});function Le(e,t){let{url:n,patienceMs:r=12e4,retryDelayMs:i=500,silenceMs:a=31e3,parseJson:o=e=>JSON.parse(e)}=e;return{baseUrl:Re(n),getToken:t,fetch:e.fetch??((e,t)=>fetch(e,t)),silenceMs:a,retryDelayMs:i,patienceMs:r,parseJson:o,contact:{hasAnswered:e.waitsForStart===!0}}}function Re(e){let{href:t,protocol:n,username:r,password:i,search:a,hash:o}=new URL(e);if(!/^https?:$/.test(n)||r+i+a+o!==``)throw TypeError("`url` must be an http or https URL without credentials, query or fragment.");return t.replace(/\/*$/,`/`)}function ze({retryDelayMs:e,patienceMs:t,contact:n}){let r=null,i=0;return{async wait(a,o){if(!n.hasAnswered&&Ve(a))throw a;r??=performance.now();let s=Math.min(e*2**i,e*20),c=Math.max(s*(.5+Math.random()/2),a.retryAfterMs??0);if(performance.now()-r+c>t)throw a;i+=1,await He(c,o)},reset(){r=null,i=0}}}const Be=/* @__PURE__ */ new Set([`ECONNREFUSED`,`ENOTFOUND`,`EAI_AGAIN`,`EHOSTUNREACH`,`ENETUNREACH`,`UND_ERR_CONNECT_TIMEOUT`]);function Ve({code:e,cause:t}){let n=t instanceof Error?t.cause?.code:void 0;return e===`unreachable`&&typeof n==`string`&&Be.has(n)}function He(e,t){return new Promise((n,r)=>{let i=()=>{clearTimeout(a),r(t?.reason)},a=setTimeout(()=>{t?.removeEventListener(`abort`,i),n()},e);t?.aborted===!0?i():t?.addEventListener(`abort`,i,{once:!0})})}var I=class extends Error{name=`BridgeClientError`;code;status;requestId;errors;retryAfterMs;queue;closeCode;constructor(e,t,n={}){super(t,{cause:n.cause}),this.code=e,this.status=n.status??null,this.requestId=n.requestId??null,this.errors=n.errors??[],this.retryAfterMs=n.retryAfterMs??null,this.queue=n.queue??null,this.closeCode=n.closeCode??null}};async function Ue(e){let{status:t,headers:n}=e,r=await e.text(),i=We(r),a=Number(n.get(`retry-after`)??NaN);return new I(i?.code??`unexpected_answer`,i?.detail??`HTTP ${t}: ${r.slice(0,200)}`,{status:t,requestId:i?.requestId??n.get(`x-request-id`),errors:i?.errors,queue:i?.queue,retryAfterMs:Number.isFinite(a)?a*1e3:null})}function We(e){try{let t=JSON.parse(e);return typeof t==`object`&&t&&`code`in t&&typeof t.code==`string`?t:null}catch{return null}}async function Ge({baseUrl:e,getToken:t,fetch:n,silenceMs:r,contact:i},{path:a,method:o=`GET`,headers:s,body:c,content:l,waitMs:u=0,signal:d}){d?.throwIfAborted();let f=e+a.slice(1);if(new URL(f).href!==f)throw new I(`not_found`,`An id or a path must not be . or .., or contain one of them between slashes.`);let p=l===void 0?c===void 0?void 0:`application/json`:`application/octet-stream`,m=new Headers({...s,...p!==void 0&&{"content-type":p}});m.set(`authorization`,`Bearer ${Ke(await t())}`);let h=new AbortController,g=()=>h.abort(d?.reason);d?.addEventListener(`abort`,g);async function _(t){let n=r+u,i=setTimeout(()=>h.abort(/* @__PURE__ */ Error(`no data received for ${n/1e3} s`)),n);try{return await t}catch(t){throw d?.throwIfAborted(),new I(`unreachable`,`Cannot reach Bridge at ${e}: ${qe(t)}`,{cause:t})}finally{clearTimeout(i)}}function v(){d?.removeEventListener(`abort`,g),h.abort()}try{let e=await _(n(f,{method:o,headers:m,body:l??(c===void 0?null:JSON.stringify(c)),signal:h.signal}));if(i.hasAnswered=!0,!e.ok)throw await _(Ue(e));return{response:e,receive:_,close:v}}catch(e){throw v(),e}}function Ke(e){if(/^[\x20-\x7e]*$/.test(e.trim()))return e.trim();throw TypeError(`The token contains characters that are not allowed in a header.`)}function qe(e){return e instanceof Error?e.cause instanceof Error&&e.cause.message!==``?e.cause.message:e.message:String(e)}const Je=({type:e})=>e===`execution.completed`||e===`execution.failed`;var Ye=class extends Error{constructor(e,t){super(e),this.name=`ParseError`,this.type=t.type,this.field=t.field,this.value=t.value,this.line=t.line}};function Xe(e){if(typeof e==`function`)throw TypeError("`config` must be an object, got a function instead. Did you mean `createParser({onEvent: fn})`?");let{maxBufferSize:t,onComment:n,onError:r,onEvent:i,onId:a,onRetry:o}=e,s=[],c=0,l=``,u,d=``,f=0,p,m=!1,h=!1,g=!1;function _(e){if(m)throw Error("Cannot feed parser: it was terminated after exceeding the configured max buffer size. Call `reset()` to resume parsing.");if(l!==void 0){if(e=l+e,e===``||e===`ï`||e===`ï»`){l=e;return}l=void 0,e=e.replace(/^(?:\uFEFF|\xEF\xBB\xBF)/,``)}if((h||g)&&(e=v(e),!e))return;if(!s.length){let t=ee(e);t!==``&&y(t),x();return}if(e.indexOf(`
`)===-1&&e.indexOf(`\r`)===-1){if(c<6&&!b(s.join(``)+e.slice(0,6-c))){s.length=0,c=0,h=!0;return}s.push(e),c+=e.length,x();return}s.push(e);let t=s.join(``);s.length=0,c=0,y(ee(t)),x()}function v(e){if(e.length===0)return e;if(g)return g=!1,e.charCodeAt(0)===10?e.slice(1):e;let t=e.indexOf(`\r`),n=e.indexOf(`
`),r=t===-1?n:n===-1||t<n?t:n;return r===-1?``:r===e.length-1&&e.charCodeAt(r)===13?(h=!1,g=!0,``):(h=!1,e.slice(r+(e.charCodeAt(r)===13&&e.charCodeAt(r+1)===10?2:1)))}function y(e){if(e){if(e.charCodeAt(e.length-1)===13){if(S(e,0,e.length-1),x())return;g=!0}else b(e)?(s.push(e),c=e.length):h=!0}}function b(e){let t=e.charCodeAt(0);return t===58&&!!n||t===100&&$e(e,`data`)||t===101&&$e(e,`event`)||t===105&&$e(e,`id`)||t===114&&$e(e,`retry`)}function x(){return m?!0:t===void 0||c+d.length<=t?!1:(m=!0,s.length=0,c=0,u=void 0,d=``,f=0,p=void 0,h=!1,g=!1,r?.(new Ye(`Buffered data exceeded max buffer size of ${t} characters`,{type:`max-buffer-size-exceeded`})),!0)}function ee(e){let t=0;if(e.indexOf(`\r`)===-1){let n=e.indexOf(`
`,t);for(;n!==-1;){if(t===n){u!==void 0&&a?.(u),f>0&&i?.({id:u,event:p,data:d}),u=void 0,d=``,f=0,p=void 0,t=n+1,n=e.indexOf(`
`,t);continue}let r=e.charCodeAt(t);if(Ze(e,t,r)){let r=e.charCodeAt(t+5)===32?t+6:t+5,o=e.slice(r,n);if(f===0&&e.charCodeAt(n+1)===10){u!==void 0&&a?.(u),i?.({id:u,event:p,data:o}),u=void 0,d=``,p=void 0,t=n+2,n=e.indexOf(`
`,t);continue}d=f===0?o:`${d}\n${o}`,f++}else Qe(e,t,r)?p=e.slice(e.charCodeAt(t+6)===32?t+7:t+6,n)||void 0:S(e,t,n);if(x())return``;t=n+1,n=e.indexOf(`
`,t)}return e.slice(t)}let n=e.indexOf(`\r`,t),r=e.indexOf(`
`,t);for(;t<e.length;){let i=-1;if(n!==-1&&r!==-1?i=n<r?n:r:n===-1?r!==-1&&(i=r):i=n===e.length-1?-1:n,i===-1)break;if(S(e,t,i),x())return``;t=i+1,e.charCodeAt(t-1)===13&&e.charCodeAt(t)===10&&t++,n!==-1&&n<t&&(n=e.indexOf(`\r`,t)),r!==-1&&r<t&&(r=e.indexOf(`
`,t))}return e.slice(t)}function S(e,t,r){if(t===r){w();return}let i=e.charCodeAt(t);if(Ze(e,t,i)){let n=e.charCodeAt(t+5)===32?t+6:t+5,i=e.slice(n,r);d=f===0?i:`${d}\n${i}`,f++;return}if(Qe(e,t,i)){p=e.slice(e.charCodeAt(t+6)===32?t+7:t+6,r)||void 0;return}if(i===105&&e.charCodeAt(t+1)===100&&e.charCodeAt(t+2)===58){let n=e.slice(e.charCodeAt(t+3)===32?t+4:t+3,r);n.includes(`\0`)||(u=n);return}if(i===58){if(n){let i=e.slice(t,r);n(i.slice(e.charCodeAt(t+1)===32?2:1))}return}let a=e.slice(t,r),o=a.indexOf(`:`);if(o===-1){C(a,``,a);return}let s=a.slice(0,o),c=a.charCodeAt(o+1)===32?2:1;C(s,a.slice(o+c),a)}function C(e,t,n){switch(e){case`event`:p=t||void 0;break;case`data`:d=f===0?t:`${d}\n${t}`,f++;break;case`id`:t.includes(`\0`)||(u=t);break;case`retry`:/^\d+$/.test(t)?o?.(parseInt(t,10)):r?.(new Ye(`Invalid \`retry\` value: "${t}"`,{type:`invalid-retry`,value:t,line:n}));break;default:r?.(new Ye(`Unknown field "${e.length>20?`${e.slice(0,20)}…`:e}"`,{type:`unknown-field`,field:e,value:t,line:n}))}}function w(){u!==void 0&&a?.(u),f>0&&i?.({id:u,event:p,data:d}),u=void 0,d=``,f=0,p=void 0}function T(e={}){if(e.consume&&s.length>0){let e=s.join(``);S(e,0,e.length)}l=``,u=void 0,d=``,f=0,p=void 0,s.length=0,c=0,m=!1,h=!1,g=!1}return{feed:_,reset:T}}function Ze(e,t,n){return n===100&&e.charCodeAt(t+1)===97&&e.charCodeAt(t+2)===116&&e.charCodeAt(t+3)===97&&e.charCodeAt(t+4)===58}function Qe(e,t,n){return n===101&&e.charCodeAt(t+1)===118&&e.charCodeAt(t+2)===101&&e.charCodeAt(t+3)===110&&e.charCodeAt(t+4)===116&&e.charCodeAt(t+5)===58}function $e(e,t){let n=1;for(;n<e.length&&n<t.length;){if(e.charCodeAt(n)!==t.charCodeAt(n))return!1;n++}return e.length<=t.length||e.charCodeAt(t.length)===58}async function*et({response:e,receive:t,close:n}){try{if(e.body===null)return;let n=e.body.pipeThrough(new TextDecoderStream).getReader();for(;;){let e=await t(n.read());if(e.done)return;yield e.value}}finally{n()}}async function*tt(e){let t=[],n=Xe({onId:e=>void t.push({id:e}),onEvent:({event:e=`message`,data:n})=>void t.push({event:e,data:n})});for await(let r of et(e))n.feed(r),yield t,t=[]}const nt=({status:e,code:t})=>(e===429||e===503)&&t!==`adapter_offline`,rt=({status:e,code:t})=>t===`unreachable`||t===`too_slow`||e===502||e===504;function it(e,t){return e instanceof I&&(nt(e)||t&&rt(e))}async function at(e,{isRepeatable:t,signal:n,...r}){let i=ze(r);for(;;)try{return await e()}catch(e){if(!it(e,t))throw e;await i.wait(e,n)}}async function*ot(e,{after:t,signal:n,onGap:r},i){let a=st(e),o=ze(i),s=t;for(;;){let t;try{let c=await Ge(i,{path:a,headers:{accept:`text/event-stream`,...s!==void 0&&{"last-event-id":s}},signal:n});if(c.response.status===204)return c.close();ct(c);for await(let t of tt(c)){o.reset();for(let n of t)if(`id`in n)s=n.id;else if(n.event===`stream.gap`)lt(JSON.parse(n.data),r);else if(!n.event.startsWith(`stream.`)){let t=i.parseJson(n.data);if(yield t,typeof e==`string`&&Je(t))return}}t=new I(`unreachable`,`Bridge ended the event stream.`)}catch(e){if(!it(e,!0))throw e;t=e}await o.wait(t,n)}}function st(e){if(typeof e==`string`)return`/api/v2/tasks/${encodeURIComponent(e)}/events`;let{types:t,...n}=e,r=Object.entries({...n,types:t?.join(`,`)}).filter(([,e])=>e!==void 0);return r.length===0?`/api/events`:`/api/events?${new URLSearchParams(r)}`}function ct({response:{status:e,headers:t},close:n}){let r=t.get(`content-type`)??`no content type`;if(r.startsWith(`text/event-stream`))return;n();let i=t.get(`x-request-id`);throw new I(`unexpected_answer`,`HTTP ${e}: expected an event stream, got ${r}.`,{status:e,requestId:i})}function lt(e,t){if(t===void 0)throw new I(`stream_gap`,"Events after `after` have been deleted. Set onGap to continue with the oldest stored event.");t(e)}const ut=()=>Array.from(crypto.getRandomValues(/* @__PURE__ */ new Uint8Array(16)),e=>e.toString(16).padStart(2,`0`)).join(``);function dt({response:e,receive:t,close:n}){let r=e.body?.getReader();async function i(e){try{let n=r&&await t(r.read());if(n?.value!==void 0)return e.enqueue(n.value)}catch(e){throw n(),e}n(),e.close()}return new Response(new ReadableStream({pull:i,cancel:n},{highWaterMark:0}),e)}async function ft(e,t){let n=``;for await(let t of et(e))n+=t;try{return t(n)}catch(t){let{status:r,headers:i}=e.response,a=i.get(`x-request-id`);throw new I(`unexpected_answer`,`HTTP ${r}: ${n.slice(0,200)}`,{status:r,requestId:a,cause:t})}}const pt=e=>new URLSearchParams(Object.entries(e).filter(([,e])=>e!==void 0));function mt(e){function t(t,{isRepeatable:n=!0,...r},i=e=>e){return at(async()=>{let n=await Ge(e,{path:t,...r});return i(await ft(n,e.parseJson),n.response.headers)},{...e,isRepeatable:n,signal:r.signal})}async function*n(e,n,{signal:r}){let i=pt(n);for(;;){let n=await t(`${e}?${i}`,{signal:r});if(yield n,n.meta.nextCursor===null)return;i.set(`cursor`,n.meta.nextCursor)}}return{send:t,sendForStatus(t,n){return at(async()=>{let{response:n,close:r}=await Ge(e,t);return r(),n},{...e,isRepeatable:n,signal:t.signal})},async sendForBytes(t){return dt(await at(()=>Ge(e,t),{...e,isRepeatable:!0,signal:t.signal}))},fetchPages:n,async*list(e,t,r){for await(let{data:i}of n(e,t,r))yield*i}}}function ht(e){let{token:t,getToken:n}=e,r=Le(e,n??(()=>t)),{send:i,sendForStatus:a,sendForBytes:o,fetchPages:s,list:c}=mt(r),l={dispatch:(e,{signal:t}={})=>i(`/api/v2/dispatch`,{method:`POST`,body:{...e,taskId:e.taskId??ut()},signal:t},(e,t)=>({...e,replayed:t.get(`idempotent-replayed`)===`true`})),async run(e,t){let{taskId:n}=await l.dispatch(e,t);return l.waitForTask(n,t)},checkDispatch:(e,{signal:t}={})=>i(`/api/v2/dispatch/check`,{method:`POST`,body:e,signal:t}),getTask:(e,{waitSeconds:t=0,signal:n}={})=>t<=0?i(L(e),{signal:n}):i(L(e),{headers:{prefer:`wait=${Math.ceil(t)}`},waitMs:t*1e3,signal:n}),getTaskRequest:(e,{signal:t}={})=>i(`${L(e)}/request`,{signal:t}),async deleteTask(e,{signal:t}={}){await a({path:L(e),method:`DELETE`,signal:t},!1)},async waitForTask(e,{signal:t}={}){let n=await l.getTask(e,{signal:t});if(wt(n.state))return n;for await(let n of l.events(e,{signal:t,onGap:()=>{}}));return l.getTask(e,{signal:t})},listTasks:(e={},t={})=>c(`/api/v2/tasks`,e,t),cancel:(e,{signal:t}={})=>i(`${L(e)}/cancel`,{method:`POST`,signal:t}),events:(e={},t={})=>ot(e,t,r),...gt({send:i,sendForStatus:a}),..._t({send:i,list:c,fetchPages:s}),listAgents:(e={})=>c(`/api/v2/agents`,{},e),getStats:(e={},{signal:t}={})=>i(`/api/v2/stats?${pt(e)}`,{signal:t}),getServiceInfo:({signal:e}={})=>i(`/`,{headers:{accept:`application/json`},signal:e}),workspaces:{list:(e={})=>c(`/api/v2/workspaces`,{},e),async putFile(e,t,n,{ifMatch:r,mustBeNew:i=!1,signal:o}={}){let s={...r!==void 0&&{"if-match":r},...i&&{"if-none-match":`*`}},c=r===void 0&&!i,l=await a({path:Ct(e,t),method:`PUT`,headers:s,content:n,signal:o},c);return{isNew:l.status===201,etag:l.headers.get(`etag`)??``}},async deleteFile(e,t,{ifMatch:n,signal:r}={}){let i=n===void 0?{}:{"if-match":n};await a({path:Ct(e,t),method:`DELETE`,headers:i,signal:r},!1)}},files:{async list(e,t={}){let n=[],r=!1;for await(let{data:i,meta:a}of s(`${L(e)}/files`,{},t))n.push(...i),r||=a.truncated===!0;return{files:n,truncated:r}},async download(e,t,{signal:n}={}){return o({path:`${L(e)}/files/${St(t)}`,signal:n})},diff:(e,{signal:t}={})=>i(`${L(e)}/diff`,{waitMs:3e4,signal:t})},approvals:{list:(e={},t={})=>c(`/api/v2/approvals`,e,t),decide:(e,t,n,{signal:r}={})=>i(`/api/v2/approvals/${encodeURIComponent(e)}`,{method:`POST`,body:{decision:t,reason:n},signal:r,isRepeatable:!1})},attention:vt({send:i}),callbacks:yt({send:i,list:c}),webhooks:bt({send:i,list:c})};return l}function gt({send:e,sendForStatus:t}){return{createTicket:({scopes:t}={},{signal:n}={})=>e(`/api/v2/events/ticket`,{method:`POST`,body:{scopes:t},signal:n}),createSignInLink:({signal:t}={})=>e(`/api/v2/sessions/link`,{method:`POST`,signal:t}),createSession:(t,{signal:n}={})=>e(`/api/v2/sessions`,{method:`POST`,body:{ticket:t},signal:n,isRepeatable:!1}),async deleteSession({signal:e}={}){await t({path:`/api/v2/sessions/current`,method:`DELETE`,signal:e},!1)},getIdentity:({signal:t}={})=>e(`/api/v2/me`,{signal:t})}}function _t({send:e,list:t,fetchPages:n}){return{listAdapters:(e={})=>t(`/api/v2/adapters`,{},e),checkAdapter:(t,{signal:n}={})=>e(`/api/v2/adapters/${encodeURIComponent(t)}/check`,{method:`POST`,waitMs:3e4,signal:n}),async listDomains(e,t={}){let r=[],i=null;for await(let{data:a,meta:o}of n(`/api/v2/domains`,{workspace:e},t))r.push(...a),i=o.settingsFault??null;return{domains:r,settingsFault:i}}}}function vt({send:e}){return{list:(t={},{signal:n}={})=>e(`/api/v2/attention?${pt(t)}`,{signal:n}),async acknowledge(t,{signal:n}={}){let r=0;for(;;){let i=await e(`/api/v2/attention/acknowledge`,{method:`POST`,body:t,signal:n});if(r+=i.acknowledged,!i.hasMore)return r}}}}function yt({send:e,list:t}){return{list:(e={},n={})=>t(`/api/v2/callbacks`,e,n),get:(t,{signal:n}={})=>e(`/api/v2/callbacks/${encodeURIComponent(t)}`,{signal:n}),redeliver:(t,{signal:n}={})=>e(`/api/v2/callbacks/${encodeURIComponent(t)}/redeliver`,{method:`POST`,signal:n,isRepeatable:!1}),redeliverAll:(t,{signal:n}={})=>xt(e,`/api/v2/callbacks/redeliver`,{body:{origin:t},signal:n})}}function bt({send:e,list:t}){let n=e=>`/api/v2/webhooks/${encodeURIComponent(e)}`;return{list:(e={})=>t(`/api/v2/webhooks`,{},e),listDeliveries:(e,r={},i={})=>t(`${n(e)}/deliveries`,r,i),redeliver:(t,r,{signal:i}={})=>e(`${n(t)}/deliveries/${encodeURIComponent(r)}/redeliver`,{method:`POST`,signal:i,isRepeatable:!1}),redeliverAll:(t,{signal:r}={})=>xt(e,`${n(t)}/redeliver`,{body:{},signal:r})}}async function xt(e,t,{body:n,signal:r}){let i=0,a;do{let o=await e(t,{method:`POST`,body:{...n,cursor:a},signal:r,isRepeatable:!1});i+=o.redelivered,a=o.nextCursor??void 0}while(a!==void 0);return i}const St=e=>e.split(`/`).map(encodeURIComponent).join(`/`),Ct=(e,t)=>`/api/v2/workspaces/${encodeURIComponent(e)}/files/${St(t)}`,L=e=>`/api/v2/tasks/${encodeURIComponent(e)}`,wt=e=>e!==`queued`&&e!==`running`,Tt={adapter_offline:{cause:`The adapter went offline while the task waited, or no node can run the task any more.`,advice:`Read the preflight of the adapter, which names what is missing. Then dispatch the task again.`,remedies:[`open_adapter`,`run_again`]},adapter_error:{cause:`The adapter failed for a reason that no other code describes.`,advice:"Read `error` and the log lines of the task. Check the adapter, then dispatch the task again.",remedies:[`open_adapter`,`run_again`]},authentication_required:{cause:`The program is not logged in, or the key is wrong.`,advice:`Set the key in the environment of Bridge, or log in with the program. Then dispatch the task again.`,remedies:[`open_adapter`,`run_again`]},user_action_required:{cause:`The runtime needs a person, for example to accept terms or to choose an account.`,advice:`Start the program once by hand as the user of Bridge, do what it asks for, and dispatch the task again.`,remedies:[`open_adapter`,`run_again`]},rate_limited:{cause:`The vendor rejects requests for now, or a usage limit is reached.`,advice:"Dispatch the task later, or lower `BRIDGE_MAX_CONCURRENT` for this adapter.",remedies:[`run_again`]},model_error:{cause:`The model failed, or it answered nothing.`,advice:"Dispatch the task again. If it fails again, read `error`, and try another `model`.",remedies:[`run_again`,`change_request`]},timeout:{cause:"The task ran longer than `timeoutSeconds`, 600 by default.",advice:"Send a larger `timeoutSeconds`, up to 86400.",remedies:[`run_longer`,`change_request`]},idle_timeout:{cause:"The runtime emitted no event for `BRIDGE_IDLE_SECONDS`, 300 by default, and no tool call was open.",advice:`Dispatch the task again. If the model is slow, raise the setting, or set it to 0 to disable the limit.`,remedies:[`run_again`]},cancelled:{cause:`A client or a person canceled the task, or its parent task ended.`,advice:`Nothing. Dispatch the task again if it is still needed.`,remedies:[`run_again`,`change_request`]},output_limit:{cause:`The runtime wrote more than Bridge stores.`,advice:`Ask for a file in the workspace instead of a long answer.`,remedies:[`change_request`]},output_invalid:{cause:"The answer does not match the output strategy, such as `outputSchema`.",advice:"Read the text in `output`. Simplify the schema, or ask for the fields in the message.",remedies:[`change_request`,`run_again`]},runtime_crashed:{cause:`The program ended without a result.`,advice:"Read `error`, which contains the end of its stderr. Run the program by hand in the workspace.",remedies:[`run_again`,`open_adapter`]},spawn_failed:{cause:`Bridge could not start the program: it is missing, not executable, or the machine has no room for it.`,advice:"Read `error`. Correct the path of the program or its permissions, or lower `BRIDGE_MAX_CONCURRENT`.",remedies:[`open_adapter`,`run_again`]},bridge_restarted:{cause:`Bridge ended while the task ran, or its node lost the PostgreSQL database for most of its lease.`,advice:'Check what the task has already done, and dispatch it again. With `"onInterrupt": "retry"`, Bridge does this once.',remedies:[`run_again`,`change_request`]},bridge_shutdown:{cause:"Bridge shut down, and the task did not end within `BRIDGE_DRAIN_SECONDS`. A task that waits for a person ends so, too.",advice:'Dispatch the task again. Raise the setting, or send `"onInterrupt": "retry"`.',remedies:[`run_again`]},max_turns:{cause:`The runtime reached its own limit of turns.`,advice:"Divide the task, or raise the limit in the settings of the runtime. A `resumeToken` continues the session.",remedies:[`change_request`]},budget_exceeded:{cause:`The runtime reached its own budget.`,advice:`Raise the budget in the settings of the runtime, or divide the task.`,remedies:[`change_request`]}},Et=e=>Object.hasOwn(Tt,e)?Tt[e]:null,Dt=5e3;function R(e,t,{intervalMs:n=()=>Dt,onValue:r}={}){let i={value:void 0,error:null},a=null,o,s=!1,c=!1;async function l(){if(a===null)return;if(s){c=!0;return}let{signal:l}=a;clearTimeout(o),s=!0,c=!1;try{let e=await t(l);if(l.aborted)return;i.value=e,i.error=null,r?.(e)}catch(e){if(l.aborted)return;i.error=e instanceof D?e:new D(0,`unexpected`,String(e))}finally{s=!1,l.aborted||(e.requestUpdate(),u(c?0:n()))}}function u(e){clearTimeout(o),document.hidden||(o=setTimeout(()=>void l(),e))}let d=()=>{document.hidden||u(0)};return e.addController({hostConnected(){a=new AbortController,s=!1,document.addEventListener(`visibilitychange`,d),e.updateComplete.then(()=>l())},hostDisconnected(){a?.abort(),a=null,clearTimeout(o),document.removeEventListener(`visibilitychange`,d)}}),{get value(){return i.value},get error(){return i.error},refresh:()=>void l()}}function Ot(e){let t=(typeof e==`object`&&e&&!Array.isArray(e)?Object.entries(e):[[``,e]]).map(([e,t])=>[c(String(e)),c(p(t))]);if(t.reduce((e,[t,n])=>e+t.length+n.length,0)<=240&&t.reduce((e,[,t])=>e+1+t.split(`
`).length,0)<=7)return null;let n=t.length>3?[...t.slice(0,2),...t.slice(-1)]:t,r=Math.floor(240/(2*n.length)),i=n.map(([e,t])=>kt(e,t,r));return t.length>3&&i.splice(2,0,`… ${t.length-3} more fields …`),i.join(`
`)}function kt(e,t,n){let r=e===``?``:`${At(e,n)}: `,i=t.split(`
`).filter(e=>e.trim()!==``),[a=``,o=``]=[i[0],i.at(-1)];if(i.length>1){let e=i.length>2?[`… ${i.length-2} more lines …`]:[];return[`${r}${At(a,n)}`,...e,jt(o,n)].join(`
`)}return a.length<=2*n?`${r}${a}`:[`${r}${At(a,n)}`,jt(a,n)].join(`
`)}const At=(e,t)=>e.length>t?`${e.slice(0,t)}…`:e,jt=(e,t)=>e.length>t?`…${e.slice(-t)}`:e;function Mt(e,t){let n=document.createElement(`a`);n.href=URL.createObjectURL(e),n.download=t,n.click(),URL.revokeObjectURL(n.href)}var Nt=class extends _{static properties={value:{attribute:!1},showsEnd:{attribute:!1}};#e=``;#t=2e4;willUpdate(e){e.has(`value`)&&(this.#e=p(this.value))}render(){let e=this.#e.length-this.#t,t=this.showsEnd?this.#e.slice(-this.#t):this.#e.slice(0,this.#t),n=g`<pre tabindex="0">${c(t)}</pre>`;if(e<=0)return n;let r=g`<p class="more">
      <button @click=${this.#n}>Show more (${a(e)} left)</button>
      <button @click=${this.#r}>Save the whole text</button>
    </p>`;return this.showsEnd?g`${r}${n}`:g`${n}${r}`}#n(){this.#t+=5e4,this.requestUpdate()}#r(){Mt(new Blob([this.#e],{type:`text/plain;charset=utf-8`}),`text.txt`)}};customElements.define(`bridge-long-text`,Nt);const z=(e,{showsEnd:t=!1}={})=>g`<bridge-long-text .value=${e} .showsEnd=${t}></bridge-long-text>`;function B(e){if(typeof e!=`object`||!e||Array.isArray(e))return z(e);let t=Object.entries(e);return t.length===0?g`<p class="hint">No input.</p>`:g`<dl class="input-fields">
    ${t.map(([e,t])=>g`<div><dt>${c(e)}</dt><dd>${z(t)}</dd></div>`)}
  </dl>`}const Pt=Array.from({length:51},(e,t)=>t/50);var Ft=class extends _{static properties={approvalId:{attribute:!1},input:{attribute:!1},isOver:{attribute:!1},expiresAt:{attribute:!1},context:{attribute:!1}};#e=null;#t=!1;#n=null;#r=new IntersectionObserver(()=>this.#d(),{threshold:Pt});#i=null;#a;#o=null;#s=``;#c=null;disconnectedCallback(){super.disconnectedCallback(),this.#r.disconnect(),this.#n=null,clearTimeout(this.#a)}press(e){this.#i===e&&(e===`reject`||this.#d())?(this.forget(),this.#m(e)):(this.forget(),this.#l()||(this.#i=e,this.#a=setTimeout(()=>this.forget(),5e3),this.#f(),this.requestUpdate()))}forget(){let e=this.#i!==null;return clearTimeout(this.#a),this.#i=null,e&&this.requestUpdate(),e}#l(){return this.#o!==null||this.#s!==``||this.isOver===!0||!this.#u()}#u(){return this.context.identity.scopes.includes(`approve`)}#d(){let{top:e,bottom:t,height:n}=this.#n?.getBoundingClientRect()??new DOMRect,r=n+40<=innerHeight,i=n>0&&(e>=-1||!r)&&t>0&&t<=innerHeight+1;return i!==this.#t&&(this.#t=i,this.requestUpdate()),i}#f(){this.#n?.scrollIntoView({block:`nearest`})}#p(){this.#t&&this.#d()?this.#m(`approve`):this.#f()}async#m(e){if(this.#l())return;this.#o=e,this.#c=null,this.requestUpdate();let{api:t,attention:n}=this.context,r=this.querySelector(`input`)?.value.trim()??``,i=`/api/v2/approvals/${encodeURIComponent(this.approvalId)}`;try{let n={decision:e,...r!==``&&{reason:r}};this.#s=It(await t.call(i,{method:`POST`,body:n}))}catch(e){e instanceof D&&e.code===`already_decided`?this.#s=e.message:this.#c=e instanceof D?e:new D(0,`unexpected`,String(e))}this.#o=null,n.refresh(),this.requestUpdate()}willUpdate(e){e.has(`input`)&&(this.#e=Ot(this.input))}updated(){let e=this.querySelector(`.shown-input`);e!==this.#n&&(this.#r.disconnect(),this.#n=e,e!==null&&this.#r.observe(e))}render(){if(this.#s!==``)return g`${B(this.input)}<p class="note info" role="status">${c(this.#s)}</p>`;if(this.isOver===!0&&this.#o===null)return g`${B(this.input)}
        <p class="hint" role="status">
          ${pe(this,v())?`The time for a decision is over, so Bridge rejects the call.`:`No longer waiting. The timeline of the task shows the decision.`}
        </p>`;if(!this.#u())return g`${B(this.input)}<p class="hint">Your token cannot decide approvals.</p>`;let e=this.#o!==null;return g`
      ${this.#e===null?S:B(this.input)}
      <div class="shown-input">
        ${this.#e===null?B(this.input):g`<p class="hint">First and last line</p><pre>${this.#e}</pre>`}
      </div>
      <div class="decision">
        <input aria-label="Reason" placeholder="Reason (optional)" maxlength="2000" autocomplete="off" />
        <button class="primary" ?disabled=${e} @click=${this.#p}>${this.#t?`Approve`:`Show the input`}</button>
        <button class="danger" ?disabled=${e} @click=${()=>this.#m(`reject`)}>Reject</button>
        <span role="status">${e?`Sending …`:this.#h()}</span>
      </div>
      ${k(this.#c)}
    `}#h(){return this.#i===null?S:g`Press <kbd>${this.#i===`approve`?`a`:`r`}</kbd> again to ${this.#i}, <kbd>Esc</kbd> to keep it waiting.`}};customElements.define(`bridge-decision`,Ft);const It=({state:e,decidedBy:t,reason:n})=>`${e} by ${t??`?`}${n===null||n===``?``:`: ${n}`}`;function Lt(e,t){if(e===null)return g`<span class="countdown">waits without a time limit</span>`;let n=Date.parse(e)-t;return pe({expiresAt:e},t)?g`<span class="countdown">expired</span>`:g`<span class="countdown">rejected automatically in ${j(Math.ceil(n/1e3)*1e3)}</span>`}
/**
* @license
* Copyright 2018 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/
const Rt={},zt=le(class extends l{constructor(){super(...arguments),this.ot=Rt}render(e,t){return t()}update(e,[t,n]){if(Array.isArray(t)){if(Array.isArray(this.ot)&&this.ot.length===t.length&&t.every((e,t)=>e===this.ot[t]))return w}else if(this.ot===t)return w;return this.ot=Array.isArray(t)?Array.from(t):t,this.render(t,n)}}),V=e=>zt([e],()=>ve(e,{class:`icon`,"aria-hidden":`true`})),Bt=(e,t,n)=>g`<div class="empty-state">${V(e)}<p>${t}</p><p class="actions">${n}</p></div>`,Vt=`M2 22h28M5 22a11 11 0 0 1 22 0M10 22v-8m6 8V11m6 11v-8`,Ht=g`<svg class="icon" viewBox="0 0 32 32" fill="none" stroke="currentColor" stroke-width="3" aria-hidden="true">
  <path d=${Vt} />
</svg>`;function Ut(){let e=null,t=null;return{update(n,{approvals:r,hasMoreApprovals:i}){let a=r.length;document.title=a===0?`${n} · Bridge`:`(${a}${i?`+`:``}) ${n} · Bridge`;let o=qt(a);o!==t&&document.querySelector(`link[rel=icon]`)?.setAttribute(`href`,o),t=o;let s=r.filter(({approvalId:t})=>e?.has(t)===!1);e=new Set(r.map(({approvalId:e})=>e)),s.length>0&&Wt()&&Kt(s)},reset(){e=null}}}const Wt=()=>`Notification`in globalThis&&Notification.permission===`granted`,Gt=()=>`Notification`in globalThis&&isSecureContext&&Notification.permission==="default";function Kt(e){let[t]=e,n=e.length===1?`${t?.agentId} wants to call ${t?.toolName}.`:`${e.length} tool calls wait.`,r=new Notification(`Bridge: approval needed`,{body:n,tag:`bridge-approval`});r.onclick=()=>{focus(),r.close()}}function qt(e){return`data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="${Vt}" fill="none" stroke="#2563eb" stroke-width="2.5"/>${e===0?``:`<circle cx="24" cy="8" r="8" fill="#c2410c"/>`}</svg>`)}`}const Jt=[`CRITICAL`,`HIGH`,`MEDIUM`,`LOW`,`INFO`];function Yt(e){let t=Jt.indexOf(e??``);return t===-1?Jt.length:t}const Xt=[`multi_source_confirmed`,`outputs`,`single_source_findings`,`integration_findings`,`disputed_findings`,`disputed_outputs`,`withdrawn_findings`,`withdrawn_outputs`];function Zt(e,t){let n=H(e.result?.outputs),r=t.flatMap(Qt);if(r.length===0&&!(`verdict`in n&&`roles`in n))return null;let i=en(n,r),a=i.length>0?i:r;return{verdict:W(n.verdict),status:W(n.status),isPartial:n.partial_coverage===!0,skipped:U(n.skip_reasons).map(({bridge:e,reason:t})=>({bridge:String(e),reason:String(t)})),findings:Xt.flatMap(e=>U(n[e]).map(t=>nn(t,e))).toSorted((e,t)=>Yt(e.severity)-Yt(t.severity)),rounds:[...new Set(a.map(({round:e})=>e))].toSorted((e,t)=>e-t),roles:tn(a)}}function Qt(e){let t=$t(e);return t===null?[]:[{provider:e.provider,...t,task:e,answers:[]}]}function $t(e){let{role:t,domain:n,round:r}=H(H(e.metadata).council);return typeof t==`string`&&typeof r==`number`?{role:t,domain:W(n)??``,round:r}:null}function en(e,t){let n=(e,n)=>U(e).flatMap(({role:e,domain:r,round:i,answered:a,reason:o})=>{if(typeof e!=`string`||typeof i!=`number`)return[];let s=t=>t.role===e&&t.round===i&&t.domain===r,c=n===null?t.findLast(s):t.find(e=>e.provider===n&&s(e)),l=[{answered:a===!0,reason:W(o)??``}];return[{provider:n,role:e,domain:W(r)??``,round:i,task:c?.task,answers:l}]});return[...U(e.bridge_reports).flatMap(({bridge:e,roles:t})=>n(t,W(e))),...n(e.roles,W(e.bridge))]}function tn(e){let t=/* @__PURE__ */ new Map;for(let{provider:n,role:r,domain:i,round:a,task:o,answers:s}of e){let e=`${r} (${[n??`all runtimes`,i].filter(e=>e!==``&&e!==r).join(` · `)})`,c=t.get(e)??/* @__PURE__ */ new Map;c.set(a,{task:o,answers:[...c.get(a)?.answers??[],...s]}),t.set(e,c)}return[...t].map(([e,t])=>({name:e,turns:t}))}function nn(e,t){let n=`output`in e?H(e.output):e,r=U(n.positions).map(({bridge:e,id:t})=>`${String(e)} ${String(t)}`),i=Array.isArray(n.confirmed_by)?`confirmed by ${n.confirmed_by.join(`, `)}`:``,a=W(e.unresolved_challenge);return{id:W(n.id)??``,severity:W(n.severity),status:t.startsWith(`withdrawn`)?`withdrawn`:t.startsWith(`disputed`)?`disputed`:W(n.status)??``,title:W(n.title)??``,description:W(n.description)??``,evidence:W(n.evidence),action:W(n.action),raisedBy:r.length>0?r.join(`, `):W(n.agent)??W(n.source_bridge)??`the council`,note:a===null?i:`challenged: ${a}`}}const H=e=>typeof e==`object`&&e&&!Array.isArray(e)?e:{},U=e=>Array.isArray(e)?e.map(H):[],W=e=>typeof e==`string`?e:null,rn={all:()=>!0,errors:e=>e.kind===`tool`&&e.isError||e.kind===`child`&&e.task.state===`failed`,tools:e=>e.kind===`tool`,text:e=>e.kind===`text`};function an(e,t){let n=[],r=t.map(e=>({task:e,at:Date.parse(e.startedAt??e.createdAt)})).toSorted((e,t)=>e.at-t.at),i=null,a=e=>{for(;r[0]!==void 0&&r[0].at<e;)n.push({turn:i,entry:{kind:`child`,task:r[0].task}}),r.shift()};for(let t of e)for(let e of t.entries){r.length>0&&a(G(e)),i=t;let o=n.at(-1);e.kind!==`progress`||!yn(e.data)?n.push({turn:i,entry:e}):o?.turn===i&&o.entry.kind===`group`?o.entry.entries.push(e):n.push({turn:i,entry:{kind:`group`,entries:[e]}})}return a(1/0),n}function G(e){return e.kind===`child`?Date.parse(e.task.startedAt??e.task.createdAt):e.kind===`group`?Date.parse(e.entries[0].at):Date.parse(e.kind===`tool`?e.invokedAt:e.at)}function on(e,t){if(e.kind!==`tool`&&e.kind!==`child`||e.kind===`child`&&e.task.startedAt===null)return null;let n=e.kind===`tool`?e.completedAt:e.task.finishedAt;return n===null?t===null?0:t-G(e):Date.parse(n)-G(e)}function sn(e,t){return e.flatMap(e=>{let n=on(e.entry,t);return n===null?[]:[{row:e,duration:n}]}).toSorted((e,t)=>t.duration-e.duration).map(({row:e})=>e)}const cn=({entry:e},t)=>e===t||e.kind===`group`&&e.entries.includes(t);function ln(e){return e.kind===`child`?e.task.finishedAt===null:e.kind===`tool`&&(e.completedAt===null||e.approval!==null&&e.approval.decision===null)}const un=1.25,dn=1e3;function fn(e,{isRunning:t}){if(!t)return Math.max(1,e);let n=Math.max(0,Math.ceil(Math.log(Math.max(1,e/dn))/Math.log(un)));return dn*un**n}const pn=[.1,.2,.5,1,2,5,10,15,30,60,120,300,600,900,1800,3600,7200,14400,28800];function mn(e){let t=(pn.find(t=>e/(1e3*t)<6)??86400)*1e3;return Array.from({length:Math.min(6,Math.ceil(e/t))},(e,n)=>n*t)}const hn=[`command`,`cmd`],gn=[`description`,`reason`,`thought`];function _n(e){if(typeof e!=`object`||!e||Array.isArray(e))return y(K(e)??p(e));let t=Object.keys(e),n=[...hn,...t.filter(e=>!gn.includes(e)),...t];for(let t of n){let n=Object.hasOwn(e,t)?K(e[t]):null;if(n!==null&&n!==``)return y(n)}return t.length===0?``:y(p(e))}function K(e){if(typeof e==`string`)return e;if(typeof e==`number`||typeof e==`boolean`)return String(e);if(!Array.isArray(e))return null;let t=e.map(K);return t.includes(null)?null:t.join(` `)}function vn(e){let t=yn(e)?xn(e):null;if(t!==null)return y(t,300);let{done:n,of:r,...i}=e,a=Object.entries(i).map(([e,t])=>`${e} ${K(t)??JSON.stringify(t)}`),[o]=Object.keys(i).length===1?Object.values(i).map(K):[],s=typeof n==`number`&&typeof r==`number`?[`${n} of ${r}`]:[];return y([...o==null?a:[o],...s].join(`, `),300)}const yn=({phase:e,round:t})=>typeof e==`string`&&typeof t==`number`;function bn({entries:e}){let t=/* @__PURE__ */ new Map;for(let{data:n}of e)if(n.phase!==`finding`){let e=typeof n.done==`number`&&typeof n.of==`number`?`${n.done} of ${n.of}`:`a role`;t.set(`Round ${n.round}, ${n.phase}`,`${e} answered`)}let n=e.filter(({data:e})=>e.phase===`finding`).length,r=n===0?[]:[`${n} finding${n===1?``:`s`}`];return y([...[...t].map(([e,t])=>`${e}: ${t}`),...r].join(`, `),300)}function xn({phase:e,round:t,role:n,domain:r,id:i,severity:a,title:o,done:s,of:c}){return e===`finding`?`${K(n)??K(r)??`Council`}: finding ${K(i)??``} ${K(a)??``}: ${K(o)??``}`:typeof n==`string`?`Round ${t}, ${e}: ${n} answered${typeof s==`number`&&typeof c==`number`?`, ${s} of ${c}`:``}`:null}function Sn(e){let t=$t(e),n=Cn(e);if(t===null)return{name:e.title??e.taskId,detail:[e.agentId,e.provider,...n].join(` · `)};let r=t.domain===``||t.domain===t.role?[]:[t.domain];return{name:t.role,detail:[e.provider,...r,`round ${t.round}`,...n].join(` · `)}}function Cn({costUsd:e,usage:t}){let n=(t?.inputTokens??0)+(t?.outputTokens??0);return[...e==null?[]:[i(e)],...n===0?[]:[`${m(n)} tokens`]]}var wn=class extends me{#e=/* @__PURE__ */ new Map;#t=null;#n;#r=[];#i=R(this,async e=>(await this.context.api.list(`/api/v2/approvals`,{limit:100},{signal:e})).data);connectedCallback(){super.connectedCallback();let{attention:e,feed:t}=this.context;this.#a(),this.#n=setInterval(()=>this.requestUpdate(),1e3),this.#r=[e.subscribe(()=>{this.#a(),this.requestUpdate()}),t.subscribe(e=>{(e?.some(({approvalId:e})=>e!==null)??!0)&&this.#i.refresh()})]}disconnectedCallback(){super.disconnectedCallback(),clearInterval(this.#n);for(let e of this.#r)e()}#a(){let{approvals:e,isLoaded:t}=this.context.attention.state;for(let t of e)this.#e.set(t.approvalId,t);if(!t)return;let n=new Set(e.map(({approvalId:e})=>e)),r=[...this.#e.keys()].filter(e=>!n.has(e)&&e!==this.#t);for(let e of r.slice(0,-10))this.#e.delete(e)}onKey(e,{repeat:t}){let n=[...this.#e.keys()];if((e===`j`||e===`k`)&&n.length>0){let t=this.#t===null?-1:n.indexOf(this.#t);return this.#t=n[Math.min(n.length-1,Math.max(0,t+(e===`j`?1:-1)))]??null,this.#o(),this.requestUpdate(),this.updateComplete.then(()=>this.querySelector(`.approval[aria-current]`)?.focus()),!0}if(e===`Escape`)return this.#o();if(e!==`a`&&e!==`r`)return!1;if(t)return!0;let r=this.#t===null?null:`[data-approval="${CSS.escape(this.#t)}"] bridge-decision`,i=r===null?null:this.querySelector(r);return i?.press(e===`a`?`approve`:`reject`),i!==null}#o(){return[...this.querySelectorAll(`bridge-decision`)].filter(e=>e.forget()).length>0}render(){let e=v(),{state:t}=this.context.attention,n=(this.#i.value??[]).filter(({approvalId:e,state:t})=>t!==`pending`&&!this.#e.has(e));return g`
      <div class="page-head">
        <h1>Approvals <span class="hint">${f(t.approvals.length,t.hasMoreApprovals)} waiting</span></h1>
        ${Gt()?g`<button @click=${this.#l}>Notify me in this browser</button>`:S}
      </div>
      ${k(this.#i.error)} ${this.#e.size===0&&t.isLoaded?Tn():S}
      <ol class="approvals">
        ${Ie(this.#e.values(),({approvalId:e})=>e,t=>this.#s(t,e))}
      </ol>
      ${t.hasMoreApprovals?g`<p class="hint">These are the oldest. Others appear when these are decided.</p>`:S}
      ${n.length===0?S:g`<h2>Decided</h2><ul class="rows decided-calls">${n.map(t=>En(t,e))}</ul>`}
    `}#s(e,t){let{approvalId:n,toolName:r,agentId:i,provider:a,taskId:o,title:s,input:l,inputTruncated:u,cwd:d,createdAt:f,expiresAt:p}=e,m=this.context.attention.state.approvals.some(e=>e.approvalId===n),h=this.#i.value?.find(e=>e.approvalId===n&&e.state!==`pending`);return g`<li
      class="approval ${m?``:`over`}" tabindex="-1" aria-current=${this.#t===n?`true`:S} data-approval=${n}
      @focusin=${()=>this.#c(n)}
    >
      <h2><code>${c(r)}</code></h2>
      <p class="detail">
        ${i} · ${a} · <a href=${M(o)}>${s===null?S:g`${c(s)} · `}${o}</a> · asked ${ae(f,t)}
        ${m?g`· ${Lt(p,t)}`:S}
      </p>
      ${d==null?S:g`<p class="detail">Directory: <code>${c(d)}</code></p>`}
      ${u?g`<p class="note warning">This is only the beginning of the input. It is longer than Bridge stores.</p>`:S}
      ${h===void 0||m?g`<bridge-decision .approvalId=${n} .input=${l} .isOver=${!m} .expiresAt=${p} .context=${this.context}></bridge-decision>`:g`${B(l)}<p role="status">${Dn(h)} <span class="detail">${On(h)}</span></p>`}
    </li>`}#c(e){this.#t=e,this.requestUpdate()}async#l(){await Notification.requestPermission(),this.requestUpdate()}};const Tn=()=>Bt(Ce,`No tool call waits for a decision.`,g`<span
      >An agent asks before its tool calls if its task is dispatched with <code>"approvals": "ask"</code>, as
      <code>docs/approvals.md</code> describes. <a href=${A(`new`)}>Dispatch such a task</a></span
    >`);function En(e,t){let n=c(_n(e.input));return g`<li>
    ${Dn(e)}
    <span class="call"><strong>${c(e.toolName)}</strong> <code title=${n}>${n}</code></span>
    <span class="detail">${On(e)} · <a href=${M(e.taskId)}>${c(e.title??e.taskId)}</a></span>
    ${O(e.createdAt,t)}
  </li>`}const Dn=({state:e})=>P(e,e===`approved`?`✓`:`✕`,e),On=({decidedBy:e,reason:t})=>`by ${e??`?`}${t===null||t===``?``:`: ${c(t)}`}`;customElements.define(`bridge-approvals`,wn);async function kn(e,{kind:t,receiver:n}){let r=t===`callback`?`/api/v2/callbacks/redeliver`:`/api/v2/webhooks/${encodeURIComponent(n)}/redeliver`,i=0,a=null;do{let o={...t===`callback`&&{origin:n},...a!==null&&{cursor:a}},s=await e.call(r,{method:`POST`,body:o});i+=s.redelivered,a=s.nextCursor}while(a!==null);return i}function An(e,t){let n=e===`callback`?`callback`:`deliver`;return`${t} ${e===`callback`?`${n}${t===1?``:`s`}`:`${n}${t===1?`y`:`ies`}`}`}var jn=class extends _{static properties={context:{attribute:!1}};#e=null;#t=null;#n=``;#r=null;#i=()=>{};connectedCallback(){super.connectedCallback(),this.#i=this.context.attention.subscribe(()=>this.requestUpdate())}disconnectedCallback(){super.disconnectedCallback(),this.#i()}async#a(e){await this.#s(async()=>{await this.context.api.call(`/api/v2/attention/acknowledge`,{method:`POST`,body:e}),this.context.attention.refresh(),this.#e!==null&&await this.#o()})}async#o(){this.#e=await this.context.api.call(`/api/v2/attention?acknowledged=true&limit=50`)}async#s(e){this.#t=null,await e().catch(e=>{this.#t=e instanceof D?e:new D(0,`unexpected`,String(e))}),this.requestUpdate()}#c(){this.#e===null?this.#s(()=>this.#o()):(this.#e=null,this.requestUpdate())}render(){let{approvals:e,faults:t,faultsAt:n,isLoaded:r}=this.context.attention.state,i=v(),a=new Date(n).toISOString(),o=[...Nn(t),...Pn(t,a),...Fn(t)],s=t.counts.failure-o.filter(({choice:e})=>e.kind===`failure`).length;return g`
      ${k(this.#t)} ${this.#n===``?S:g`<p class="note info" role="status">${this.#n}</p>`}
      ${r&&e.length+o.length===0?g`<p class="empty">Nothing waits for a person.</p>`:S}
      <ul class="rows">
        ${e.slice(0,5).map(e=>g`<li>
            ${N(`approval`)}
            <a href=${A(`approvals`)}>${e.agentId} wants to call <code>${c(e.toolName)}</code></a>
            <code class="detail">${c(_n(e.input))}</code> ${O(e.createdAt,i)}
          </li>`)}
        ${o.map(e=>this.#m(e,i))}
      </ul>
      <p class="actions">
        ${s>0?g`<a href=${A(`tasks?state=failed`)}>${s} more failed ${s===1?`task`:`tasks`}</a>`:S}
        ${s>0&&this.#l()?this.#u(`Acknowledge all failed tasks`,{kind:`failure`,all:!0,until:a}):S}
        ${r?g`<button class="plain" aria-expanded=${this.#e!==null} @click=${this.#c}>Acknowledged faults</button>`:S}
      </p>
      ${this.#e===null?S:In(this.#e,i)}
    `}#l(){return this.context.identity.scopes.includes(`dispatch`)}#u(e,t){return g`<button class="plain" @click=${()=>this.#a(t)}>${e}</button>`}#d(e){this.#r=e,this.requestUpdate()}async#f(e){this.#r=null,await this.#s(async()=>{this.#n=`Redelivery of ${An(e.kind,await kn(this.context.api,e))} started.`,this.context.attention.refresh()})}#p(e){let t=`${e.kind} ${e.receiver}`;return this.#r===t?g`<span role="status">Redeliver ${An(e.kind,e.count)}?</span>
      <button class="small" @click=${()=>this.#f(e)}>Yes, redeliver</button>
      <button class="small" @click=${()=>this.#d(null)}>No</button>`:g`<button class="plain small" aria-label="Redeliver all dead to ${c(e.receiver)}" @click=${()=>this.#d(t)}>Redeliver all</button>`}#m({sign:e,name:t,link:n,detail:r,at:i,choice:a,dead:o},s){return g`<li>
      ${e} <a href=${n}>${c(t)}</a> <span class="detail">${c(r)}</span> ${O(i,s)}
      ${o!==void 0&&this.#l()?this.#p(o):S}
      ${this.#l()?g`<button class="plain small acknowledge" aria-label="Acknowledge ${c(t)}" @click=${()=>this.#a(a)}>Acknowledge</button>`:S}
    </li>`}};const Mn=e=>P(`failed`,`✕`,e),Nn=({data:e})=>e.filter(({kind:e})=>e===`failure`).map(({id:e,title:t,agentId:n,provider:r,detail:i,at:a})=>({sign:N(`failed`),name:t??e,link:M(e),at:a,detail:[...t===null?[]:[e],n,r,i].filter(e=>e!==null).join(` · `),choice:{kind:`failure`,id:e}})),Pn=({data:e,receivers:t},n)=>t.map(({kind:t,receiver:r,count:i})=>{let a=e.find(e=>e.kind===t&&e.receiver===r);return{sign:Mn(An(t,i).replace(` `,` dead `)),dead:{kind:t,receiver:r,count:i},name:r,link:A(t===`callback`?`callbacks`:`webhooks?name=${encodeURIComponent(r)}`),detail:[a?.detail,i===1?a?.taskId:null].filter(e=>e!=null).join(` · `),at:a?.at??null,choice:{kind:t,receiver:r,until:n}}}),Fn=({data:e})=>e.filter(({kind:e})=>e===`adapter`).map(({id:e,detail:t})=>({sign:ce(`offline`),name:e,link:A(`adapters#${encodeURIComponent(e)}`),detail:t??``,at:null,choice:{kind:`adapter`,id:e}}));function In({data:e},t){return e.length===0?g`<p class="empty">No fault that still exists was acknowledged.</p>`:g`<ul class="rows" aria-label="Acknowledged faults">
    ${e.map(e=>g`<li>
        ${P(``,`·`,Ln[e.kind])} <span>${c(e.title??e.receiver??e.id)}</span>
        <span class="detail">${c(e.detail??``)}</span>
        <span class="detail">${Rn(e,t)}</span>
      </li>`)}
  </ul>`}const Ln={approval:`approval`,failure:`failed task`,callback:`dead callback`,delivery:`dead delivery`,adapter:`offline adapter`},Rn=({acknowledgedBy:e,acknowledgedAt:t},n)=>t===null?``:`acknowledged by ${e??`?`}, ${ie(t,n)}`;customElements.define(`bridge-needs-you`,jn);const zn=e=>/^[\w./:@-]+$/.test(e)&&!e.startsWith(`-`)?e:`'${e.replaceAll(`'`,`'\\''`)}'`,Bn=[`provider`,`agentId`,`message`,`taskId`,`model`,`systemPrompt`,`resumeToken`,`callbackUrl`],Vn=[`profile`,`approvals`],Hn=[`metadata`,`bridgeInput`,`responderInput`],Un=[`task_description`,`scope`,`task_type`,`intensity`,`domains`,`provider`,`providers`],Wn=[`domains`,`providers`],Gn={provider:`Adapter`,agentId:`Agent`,message:`Message`,profile:`Profile`,approvals:`Approvals`,model:`Model`,timeoutSeconds:`Time limit in seconds`,output:`Output`,outputPath:`Output file`,outputSchema:`JSON Schema of the output`,taskId:`Task id`,resumeToken:`Resume token`,callbackUrl:`Callback URL`,systemPrompt:`System prompt`,metadata:`Metadata`,bridgeInput:`Input of the adapter`,responderInput:`Input of the responder`,others:`Other fields of the dispatch`,"council.task_description":`Task`,"council.scope":`Scope`,"council.task_type":`Type`,"council.intensity":`Intensity`,"council.domains":`Domains`,"council.provider":`Runtime`,"council.providers":`Runtimes`,"council.others":`Other fields of the council`};function Kn(e,t=`agent`){let n=[],r=t=>e[t]??``,i=e=>{if(r(e).trim()!==``)try{return de(r(e))}catch(t){n.push({path:e,message:`must be JSON: ${t.message}`});return}},a=i(`others`)??{};(typeof a!=`object`||!a||Array.isArray(a))&&n.push({path:`others`,message:`must be a JSON object`});let o={},s=e=>t===`agent`||e!==`message`&&e!==`bridgeInput`;for(let e of Bn.filter(s))r(e).trim()!==``&&(o[e]=e===`message`?r(e):r(e).trim());for(let e of Vn)r(e)!==``&&(o[e]=r(e));r(`timeoutSeconds`).trim()!==``&&(o.timeoutSeconds=Number(r(`timeoutSeconds`)));let c=Yn(r(`output`),r(`outputPath`),()=>i(`outputSchema`));c!==void 0&&(o.outputStrategy=c);for(let e of Hn.filter(s)){let t=i(e);t!==void 0&&(o[e]=t)}return t===`council`&&(o.bridgeInput={...qn(e),...i(`council.others`)}),{body:{...o,...a},errors:n}}function qn(e){let t=Un.map(t=>[t,(e[`council.${t}`]??``).trim()]).filter(([,e])=>e!==``);return Object.fromEntries(t.map(([e,t])=>[e,Wn.includes(e)?Jn(t):t]))}const Jn=e=>e.split(`,`).filter(e=>e!==``);function Yn(e,t,n){return e===`file`?{type:e,path:t.trim()}:e===`structured`?{type:e,schema:n()??{}}:e===``?void 0:{type:e}}function Xn(e){let{taskId:t,outputStrategy:n,timeoutSeconds:r,...i}=e,a={},o={},s=[...Bn,...Vn];for(let[e,t]of Object.entries(i))s.includes(e)&&typeof t==`string`?a[e]=t:e===`bridgeInput`?Object.assign(a,Zn(t),{bridgeInput:JSON.stringify(t,null,2)}):Hn.includes(e)?a[e]=JSON.stringify(t,null,2):o[e]=t;r!==void 0&&(a.timeoutSeconds=String(r));let{type:c=``,path:l=``,schema:u}=n??{};return Object.assign(a,{output:c,outputPath:l,...u!==void 0&&{outputSchema:JSON.stringify(u,null,2)}}),Object.keys(o).length>0&&(a.others=JSON.stringify(o,null,2)),a}function Zn(e){let t={},n={};for(let[r,i]of Object.entries(e??{})){let e=Un.includes(r);e&&typeof i==`string`?t[`council.${r}`]=i:e&&Array.isArray(i)?t[`council.${r}`]=i.join(`,`):n[r]=i}return{...t,...Object.keys(n).length>0&&{"council.others":JSON.stringify(n,null,2)}}}function Qn(e,t=`agent`){let[n=``,r=``]=e.split(`.`);return t===`council`&&e===`council.others`?e:t===`council`&&n===`bridgeInput`?Un.includes(r)?`council.${r}`:`council.others`:n===`outputStrategy`?r===`path`?`outputPath`:r===`schema`?`outputSchema`:`output`:[...Bn,...Vn,...Hn,`timeoutSeconds`,`outputPath`,`outputSchema`,`others`].includes(n)?n:null}function $n(e,t){let n=t.replace(/^is required \(\w+\)$/,`is required`);return`${Gn[e]??e} ${n.replace(/[.;]$/,``)}.`}const er=(e,t)=>[`curl ${zn(e)}`,`-H "Authorization: Bearer $BRIDGE_TOKEN"`,`-H "Content-Type: application/json"`,`-d ${zn(JSON.stringify(t))}`].join(` \\
  `),tr=(e,t)=>`import { createBridgeClient } from "bridge-client";

const bridge = createBridgeClient({ url: ${JSON.stringify(e)}, token: process.env.BRIDGE_TOKEN ?? "" });
const { state, result } = await bridge.run(${JSON.stringify(t,null,2)});
console.log(state, result?.output);
`;async function nr(e){return navigator.clipboard===void 0?`Needs HTTPS`:navigator.clipboard.writeText(e).then(()=>null,()=>`Not permitted`)}function rr(e,t=`Copy`){return g`<button @click=${n=>{let r=n.currentTarget;nr(e).then(e=>{r.textContent=e??`Copied`,setTimeout(()=>{r.textContent=t},2e3)})}} .textContent=${t}></button>`}
/**
* @license
* Copyright 2020 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/const ir=le(class extends l{constructor(e){if(super(e),e.type!==C.PROPERTY&&e.type!==C.ATTRIBUTE&&e.type!==C.BOOLEAN_ATTRIBUTE)throw Error("The `live` directive is not allowed on child or event bindings");if(!ee(e))throw Error("`live` bindings can only contain a single expression")}render(e){return e}update(e,[t]){if(t===w||t===S)return t;let n=e.element,r=e.name;if(e.type===C.PROPERTY){if(t===n[r])return w}else if(e.type===C.BOOLEAN_ATTRIBUTE){if(!!t===n.hasAttribute(r))return w}else if(e.type===C.ATTRIBUTE&&n.getAttribute(r)===t+``)return w;return b(e),t}});function q(e,t){let{name:n,type:r=`text`,hint:i=``}=e,a=n.replaceAll(`.`,`-`),o=t.faultOf(n),s=[i===``?``:`${a}-hint`,o===``?``:`${a}-error`].filter(e=>e!==``).join(` `),l={id:a,invalid:o===``?S:`true`,described:s===``?S:s},u=g`${i===``?S:g`<p class="hint" id="${a}-hint">${i}</p>`}
    ${o===``?S:g`<p class="field-error" id="${a}-error">${c(o)}</p>`}`;return r===`list`?g`<fieldset class="wide" aria-describedby=${l.described}>
      <legend>${Gn[n]??n}</legend>
      ${or(e,t)} ${u}
    </fieldset>`:g`<div class=${r===`area`?`wide`:``}>
    <label for=${a}>${Gn[n]??n}</label>
    ${ar(e,t,l)} ${u}
  </div>`}function ar({name:e,type:t=`text`,list:n,none:r=`default`},i,a){let{id:o,invalid:s,described:c}=a,l=i.valueOf(e),u=t=>i.onEdit(e,t.target.value);if(t===`area`){let t=e===`message`||e===`council.task_description`;return g`<textarea
      id=${o} rows=${t?5:3} .value=${ir(l)} @input=${u} aria-invalid=${s} aria-describedby=${c}
      spellcheck=${t}
    ></textarea>`}return typeof t==`object`?g`<select id=${o} @change=${u} aria-invalid=${s} aria-describedby=${c}>
      ${r===null?S:g`<option value="" ?selected=${l===``}>${r}</option>`}
      ${t.map(e=>g`<option value=${e.value} ?selected=${e.value===l} ?disabled=${e.isDisabled===!0}>
          ${e.name??e.value}
        </option>`)}
    </select>`:g`<input
    id=${o} type=${t} .value=${ir(l)} @input=${u} list=${n??S} autocomplete="off" spellcheck="false"
    aria-invalid=${s} aria-describedby=${c}
  />`}function or({name:e,choices:t=[]},n){let r=Jn(n.valueOf(e)),i=r.filter(e=>!t.some(t=>t.value===e)).map(e=>({value:e})),a=t=>n.onEdit(e,(r.includes(t)?r.filter(e=>e!==t):[...r,t]).join(`,`));return g`<div class="choices">
    ${[...t,...i].map(e=>g`<label class="choice" title=${e.title??S}
        ><input type="checkbox" .checked=${ir(r.includes(e.value))} @change=${()=>a(e.value)} /> ${e.name??e.value}</label
      >`)}
  </div>`}const sr=[`review`,`analysis`,`audit`,`planning`,`implementation`,`research`],cr=[{value:`inspect`},{value:`modify`}],lr=[{value:`quick`,name:`quick: no debate`},{value:`standard`,name:`standard: one round of debate`},{value:`thorough`,name:`thorough: up to three rounds`}],ur=e=>dr(e).includes(`bridgeInput`),dr=e=>e?.capabilities?.inputs??[];function fr(e,{provider:t,adapters:n,domains:r}){let i=n.filter(e=>dr(e).length===0).map(e=>({value:e.provider})),a=r.map(({name:e,expert:t})=>({value:e,title:t})),o=t===`deep-council`;return g`
    ${q({name:`council.task_description`,type:`area`,hint:`What the council should do.`},e)}
    ${q({name:`council.scope`,type:`area`,hint:`Files, topics or a description to work on.`},e)}
    ${q({name:`council.task_type`,type:sr.map(e=>({value:e})),none:`choose one`},e)}
    ${q({name:`council.intensity`,type:lr},e)}
    ${o?S:q({name:`council.provider`,type:i},e)}
    ${q({name:`profile`,type:cr,hint:`An implementation needs modify.`},e)}
    ${q({name:`timeoutSeconds`,type:`number`},e)}
    ${o?q({name:`council.providers`,type:`list`,choices:i,hint:`None: those of the settings.`},e):S}
    ${q({name:`council.domains`,type:`list`,choices:a,hint:o?`None: the council chooses from the text.`:`At least one. Each has an expert.`},e)}
  `}function pr(e){let{provider:t}=e.filter(({health:e})=>e.status===`healthy`).find(e=>dr(e).length===0)??{};if(t===void 0)return g`<p class="empty">No tasks yet, and no adapter is ready. <a href=${A(`adapters`)}>See why</a></p>`;let n=er(new URL(`api/v2/dispatch`,r).href,{provider:t,agentId:`auditor`,message:`Count BRIDGE in *.md`,files:[{path:`notes.md`,content:`BRIDGE is one endpoint. BRIDGE loses no task.`}]});return g`<p class="empty">No tasks yet. <a href=${A(`new`)}>Dispatch one here</a>, or from a terminal with your token in BRIDGE_TOKEN:</p>
    <pre tabindex="0"><code>${n}</code></pre>
    <p>${rr(n,`Copy as curl`)}</p>`}const mr=({costUsd:e,tasksWithoutCost:t})=>gr(i(e),e!==null&&t>0),hr=(e,{tasksWithoutUsage:t})=>gr(m(e),e!==null&&t>0),gr=(e,t)=>t?`${e} + ?`:e,_r=[`cost`,`tokens`,`tasks`];function vr({data:e},t){if(t===`tasks`)return[{kind:`completed`,label:`completed`,values:e.map(({completed:e})=>e)},{kind:`failed`,label:`failed`,values:e.map(({failed:e})=>e)},{kind:`cancelled`,label:`canceled`,values:e.map(({cancelled:e})=>e)}];let n=t===`cost`?({costUsd:e})=>e:xr,r=br(e).map((t,n)=>({kind:`part-${n+1}`,label:t===null?`unknown model`:c(t),values:e.map(({parts:e=[]})=>i(e.find(e=>e.key===t)))}));function i(e){return e==null?0:n(e)}let a={kind:`others`,label:`others`,values:e.map(({otherParts:e})=>i(e))};return e.some(({otherParts:e})=>e!=null)?[...r,a]:r}const yr=(e,t)=>e===`cost`?i(t):m(t);function br(e){let t=/* @__PURE__ */ new Map;for(let{key:n,costUsd:r,tasks:i}of e.flatMap(({parts:e=[]})=>e)){let{cost:e,tasks:a}=t.get(n)??{cost:0,tasks:0};t.set(n,{cost:e+(r??0),tasks:a+i})}return[...t].sort(([,e],[,t])=>t.cost-e.cost||t.tasks-e.tasks).map(([e])=>e)}const xr=({inputTokens:e,outputTokens:t})=>e===null&&t===null?null:(e??0)+(t??0);function Sr(e,t){if(e===null||t===null)return``;if(t===0)return e===0?`no change`:`none before`;let n=e/t;if(n>=10)return`${m(Math.round(n))} times`;let r=Math.round((n-1)*100);return r===0?`no change`:`${r>0?`+`:`−`}${Math.abs(r)} %`}var Cr=class extends me{#e=R(this,async e=>(await this.context.api.list(`/api/v2/tasks`,{root:`*`,limit:30},{signal:e})).data);#t=R(this,async e=>{let t=new Date(new Date(v()).setHours(0,0,0,0)).toISOString();return(await this.context.api.call(`/api/v2/stats?${new URLSearchParams({from:t,limit:`1`})}`,{signal:e})).total},{intervalMs:()=>15e3});#n=R(this,async e=>(await this.context.api.list(`/api/v2/tasks`,{state:`running`,root:`*`,limit:20},{signal:e})).data);#r=R(this,async e=>{let t=async t=>{let{data:n,meta:r}=await this.context.api.list(`/api/v2/tasks`,{state:t,limit:200},{signal:e});return f(n.length,r.nextCursor!==null)},[n,r]=await Promise.all([t(`running`),t(`queued`)]);return{running:n,queued:r}});#i;#a=[];connectedCallback(){super.connectedCallback();let{attention:e,feed:t}=this.context;this.#i=setInterval(()=>this.requestUpdate(),1e3),this.#a=[e.subscribe(()=>this.requestUpdate()),t.subscribe(()=>{this.#e.refresh(),this.#n.refresh()})]}disconnectedCallback(){super.disconnectedCallback(),clearInterval(this.#i);for(let e of this.#a)e()}render(){let{error:e}=this.context.attention.state,t=this.#t.value;return g`
      <h1>Overview</h1>
      ${k(e)}
      <ul class="figures">
        ${J(`Running`,this.#r.value?.running??``,`tasks?state=running`)}
        ${J(`Queued`,this.#r.value?.queued??``,`tasks?state=queued`)}
        ${J(`Failed today`,t?.failed??``,`tasks?state=failed`,(t?.failed??0)>0)}
        ${J(`Ended today`,t?.tasks??``,`usage?window=today`)}
        ${J(`Cost today`,t===void 0?``:mr(t),`usage?window=today`)}
      </ul>
      <section aria-labelledby="needs-you">
        <h2 id="needs-you">Needs you</h2>
        <bridge-needs-you .context=${this.context}></bridge-needs-you>
      </section>
      ${this.#o()}
    `}#o(){let{value:e=[],error:t}=this.#n,{value:n,error:r}=this.#e;if(n===void 0)return g`${k(r)}`;if(n.length===0)return pr(this.context.attention.state.adapters);let i=v(),a=n.filter(F).toSorted((e,t)=>(t.finishedAt??``).localeCompare(e.finishedAt??``)).slice(0,10);return g`
      <section aria-labelledby="running">
        <h2 id="running">Running now</h2>
        ${k(t)}
        ${e.length===0?g`<p class="empty">Nothing runs.</p>`:S}
        <ul class="rows">${e.map(e=>Tr(e,i))}</ul>
        ${e.length===20?g`<p><a href=${A(`tasks?state=running`)}>All running tasks</a></p>`:S}
      </section>
      <section aria-labelledby="recent">
        <h2 id="recent">Latest ended</h2>
        ${k(r)}
        <ul class="rows">
          ${a.map(e=>g`<li>
              ${N(T(e,i))} <a href=${M(e.taskId)}>${c(e.title??e.taskId)}</a>
              <span class="detail">${wr(e)}${re(e)}</span> ${O(e.finishedAt,i)}
            </li>`)}
        </ul>
        <p><a href=${A(`tasks`)}>All tasks</a></p>
      </section>
    `}};const wr=({taskId:e,title:t,agentId:n,provider:r})=>[...t===null?[]:[e],n,r].join(` · `);function Tr(e,t){let{taskId:n,title:r,startedAt:i,lastProgressAt:a}=e;return g`<li>
    ${N(T(e,t))} <a href=${M(n)}>${c(r??n)}</a>
    <span class="detail">${wr(e)}</span>
    <span class="since"
      >${i===null?S:g`for <strong>${j(Math.floor((t-Date.parse(i))/1e3)*1e3)}</strong>`}
      ${a===null?S:g`<span class="detail">last event ${O(a,t)}</span>`}</span
    >
  </li>`}function J(e,t,n,r=!1){return g`<li class=${r?`urgent`:``}>
    <a href=${A(n)}><span class="value">${t}</span> <span class="label">${e}</span></a>
  </li>`}customElements.define(`bridge-overview`,Cr);var Er=class extends _{static properties={reason:{attribute:!1},onSignIn:{attribute:!1}};#e(e){e.preventDefault();let t=new FormData(e.target),n=String(t.get(`token`)??``).trim();n!==``&&this.onSignIn(n,{remember:t.get(`remember`)===`on`})}firstUpdated(){this.querySelector(`#token`)?.focus()}render(){return g`
      <main class="sign-in">
        <h1>Bridge</h1>
        ${this.reason===null?S:g`<p class="note error" role="alert">${c(this.reason)}</p>`}
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
    `}};customElements.define(`bridge-sign-in`,Er);function Dr(e,t){let n=`/api/v2/tasks/${encodeURIComponent(t)}`,r,i=null,a=!0;async function o(t){let r=await e.call(`${n}/request`,{signal:t}),{message:i,...a}=r.request;return{message:i,fields:a,isMasked:r.masked.length>0}}async function s({callback:n},r){return n===null||n.attempts===0?null:(i?.attempts!==n.attempts&&(i=await e.call(`/api/v2/callbacks/${encodeURIComponent(t)}`,{signal:r})),i)}async function c({provider:t,createdAt:n},r){let i={state:`queued`,provider:t,createdBefore:n,limit:200},{data:a,meta:o}=await e.list(`/api/v2/tasks`,i,{signal:r});return f(a.length,o.nextCursor!==null)}return async i=>{let l=()=>e.list(`${n}/files`,{limit:200},{signal:i}).catch(()=>null),[u,d,f,p]=await Promise.all([e.call(n,{signal:i}),e.list(`/api/v2/tasks`,{parentTaskId:t,limit:200},{signal:i}),r??o(i),a?l():null]);r=f,a=!1;let[m,h,g]=await Promise.all([F(u)?p??l():null,s(u,i),u.state===`queued`?c(u,i):null]);return{task:u,children:d.data.toReversed(),files:m?.data??[],request:r,callback:h,ahead:g}}}function Or({attempts:e,history:t},n){if(t.length===0)return S;let r=e-t.length;return g`<section aria-labelledby="attempts">
    <h2 id="attempts">Callback attempts <span class="hint">${e}</span></h2>
    <ul class="rows attempts">
      ${t.toReversed().map(e=>kr(e,n))}
    </ul>
    ${r===0?S:g`<p class="hint">Earlier attempts are no longer stored: ${r}.</p>`}
  </section>`}function kr({number:e,at:t,status:n,error:r,durationMs:i,response:a,responseTruncated:o},s){return g`<li>
    <strong>${e}</strong> <span>${n===null?`no response`:`HTTP ${n}`}</span>
    <span class="detail">${r===null?`delivered`:c(r)}, ${j(i)}</span>
    ${oe(t,s)}
    ${a===null||a===``?S:g`<details>
            <summary>Response ${o?g`<span class="hint">beginning</span>`:S}</summary>
            ${z(a)}
          </details>`}
  </li>`}const Ar=`bridge.plain-text`,jr=/* @__PURE__ */ new Set,Y={get isOn(){return localStorage.getItem(Ar)!==null},toggle(){Y.isOn?localStorage.removeItem(Ar):localStorage.setItem(Ar,`on`);for(let e of jr)e()},subscribe(e){return jr.add(e),()=>jr.delete(e)}};let Mr=null;async function Nr(){Mr??=import(`./markdown-BDPeweBn.js`).catch(()=>null);let e=await Mr;return e===null&&(Mr=null),e}var Pr=class extends _{static properties={text:{attribute:!1},level:{attribute:!1},isComplete:{attribute:!1}};#e={text:``,element:null};#t=()=>{};#n=new ResizeObserver(e=>{for(let{target:t}of e)t.scrollWidth>t.clientWidth||t.scrollHeight>t.clientHeight?t.setAttribute(`tabindex`,`0`):t.removeAttribute(`tabindex`)});connectedCallback(){super.connectedCallback(),this.#t=Y.subscribe(()=>this.requestUpdate())}disconnectedCallback(){super.disconnectedCallback(),this.#t(),this.#n.disconnect(),this.#e={text:``,element:null}}willUpdate(e){this.isComplete&&!Y.isOn&&this.#e.text!==this.text&&(this.#e={text:this.text,element:null},this.#r())}async#r(){let e=this.#e,t=await Nr();e.text.length>500&&await new Promise(e=>setTimeout(e));let n=await t?.renderMarkdown(e.text,{level:this.level,show:c});if(n!=null&&e===this.#e){e.element=n,this.#n.disconnect();for(let e of n.querySelectorAll(`pre, .scroll`))this.#n.observe(e);this.requestUpdate()}}render(){let{text:e,element:t}=this.#e;return!this.isComplete||Y.isOn||e!==this.text||t===null?z(this.text,{showsEnd:!this.isComplete}):g`${t}`}};customElements.define(`bridge-markdown-text`,Pr);const X=(e,{level:t,isComplete:n=!0})=>g`<bridge-markdown-text .text=${e} .level=${t} .isComplete=${n}></bridge-markdown-text>`;var Fr=class extends _{static properties={taskId:{attribute:!1},heading:{attribute:!1},context:{attribute:!1}};#e=null;render(){return g`<details @toggle=${this.#n}>
      <summary>${c(this.heading)}</summary>
      ${this.#t()}
    </details>`}#t(){let e=this.#e;if(e===null)return S;if(e instanceof D)return g`${k(e)}`;let{output:t,outputs:n,error:r}=e.result??{};return g`
      ${t?Ir(t):n===void 0?g`<p class="empty">${c(r??`No answer.`)}</p>`:z(n)}
      <p><a href=${M(e.taskId)}>The task of this role</a></p>
    `}async#n(e){e.newState===`open`&&this.#e===null&&(this.#e=await this.context.api.call(`/api/v2/tasks/${encodeURIComponent(this.taskId)}`).catch(e=>e instanceof D?e:new D(0,`unreachable`,String(e))),this.requestUpdate())}};function Ir(e){try{return z(JSON.parse(e))}catch{return X(e,{level:4})}}customElements.define(`bridge-answer`,Fr);const Lr={PASS:[`completed`,`✓`],CONCERNS:[`approval`,`!`],FAIL:[`failed`,`✕`]},Rr={SKIPPED:[`failed`,`✕`],HALTED:[`approval`,`!`],ABORTED:[`failed`,`✕`]},zr=(e,t)=>(Object.hasOwn(e,t)?e[t]:void 0)??[``,``];function Br({verdict:e,status:t,isPartial:n,skipped:r,findings:i,rounds:a,roles:o},s,l){let[u,d]=zr(Lr,e??``),[f,p]=zr(Rr,t??``);return g`<section aria-labelledby="council">
    <h2 id="council" class="verdict">Council ${e===null?S:P(u,d,e)}
      ${t===null||t===`COMPLETED`?S:P(f,p,t)}</h2>
    ${n?g`<p class="note warning">Not every requested runtime completed, so the coverage is partial.</p>`:S}
    ${r.map(({bridge:e,reason:t})=>g`<p class="note info"><strong>${e}</strong> did not take part: ${c(t)}</p>`)}
    ${o.length===0?S:g`<div class="scroll council-roles" tabindex="0" role="region" aria-label="Roles and rounds">
            <table class="council">
              <thead>
                <tr><th scope="col">Role</th>${a.map(e=>g`<th scope="col">Round ${e}</th>`)}</tr>
              </thead>
              <tbody>
                ${o.map(({name:e,turns:t})=>g`<tr>
                    <th scope="row">${c(e)}</th>
                    ${a.map(e=>g`<td>${Hr(t.get(e),l)}</td>`)}
                  </tr>`)}
              </tbody>
            </table>
          </div>`}
    ${i.length===0?S:g`<h3>Findings <span class="hint">${i.length}</span></h3><ul class="rows findings">${i.map(Wr)}</ul>`}
    ${Vr(o,s)}
  </section>`}function Vr(e,t){let n=e.flatMap(({name:e,turns:t})=>[...t].flatMap(([t,{task:n}])=>n===void 0||!F(n)?[]:[{name:e,round:t,taskId:n.taskId}]));return n.length===0?S:g`<details>
    <summary>Answers of the roles <span class="hint">${n.length}</span></summary>
    <ul class="rows findings">
      ${n.map(({name:e,round:n,taskId:r})=>g`<li><bridge-answer .taskId=${r} .heading=${`${e}, round ${n}`} .context=${t}></bridge-answer></li>`)}
    </ul>
  </details>`}function Hr(e,t){if(e===void 0)return S;let{task:n,answers:r}=e,i=r.length>0?Ur(r):n===void 0?S:N(T(n,t)),a=r.filter(({answered:e})=>!e).map(({reason:e})=>e);return g`${n===void 0?i:g`<a href=${M(n.taskId)}>${i}</a>`}
    ${a.map(e=>g`<p class="detail">${c(e)}</p>`)}`}function Ur(e){let t=e.filter(({answered:e})=>e).length;return t===e.length?P(`completed`,`✓`,`answered`):t===0?P(`failed`,`✕`,`no answer`):P(`approval`,`!`,`${t} of ${e.length} answered`)}function Wr({severity:e,status:t,title:n,description:r,evidence:i,action:a,raisedBy:o,note:s}){return g`<li>
    <details>
      <summary>
        ${e===null?S:P(e===`CRITICAL`||e===`HIGH`?`failed`:`approval`,`▲`,e)}
        ${t===``?S:P(``,``,t)} <span class="title">${c(n)}</span> <span class="detail">${c(o)}</span>
      </summary>
      ${s===``?S:g`<p class="detail">${c(s)}</p>`} ${X(r,{level:4})}
      ${i===null?S:g`<h4>Evidence</h4>${z(i)}`} ${a===null?S:g`<h4>Action</h4>${X(a,{level:5})}`}
    </details>
  </li>`}const Gr={"+":`added`,"-":`removed`," ":`same`},Kr=/^(?:new file|deleted file|old mode|new mode|Binary files)/;function qr(e,t){let n=[],r={path:``,notes:[],lines:[]},[i,a,o,s]=[0,0,0,0];function c(e){let t=Gr[e[0]];if(o+s>0&&t!==void 0){let[n,c]=[t!==`added`,t!==`removed`];r.lines.push({kind:t,oldNumber:n?i:null,newNumber:c?a:null,text:e.slice(1)}),n&&([i,o]=[i+1,o-1]),c&&([a,s]=[a+1,s-1])}else e.startsWith(`\\`)?r.lines.push({kind:`comment`,oldNumber:null,newNumber:null,text:e.slice(2)}):l(e)}function l(e){let t=/^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(e);t===null?e.startsWith(`diff --git `)?([o,s]=[0,0],r={path:Jr(e.slice(11)),notes:[],lines:[]},n.push(r)):Kr.test(e)&&r.notes.push(e):([i,o,a,s]=[t[1],t[2]??1,t[3],t[4]??1].map(Number),r.lines.push({kind:`hunk`,oldNumber:null,newNumber:null,text:e}))}let u=0;for(let r=0;u<e.length;r+=1){if(r===t)return{files:n,rest:u};let i=e.indexOf(`
`,u),a=i===-1?e.length:i;c(e.slice(u,a)),u=a+1}return{files:n,rest:null}}const Jr=e=>e.slice(0,(e.length-1)/2).replace(/^a\//,``),Yr=e=>e.split("`").map((e,t)=>t%2==1?g`<code>${c(e)}</code>`:c(e)),Xr=1e3,Zr=2e3,Qr={bytes:`The diff is too long. Its end is missing.`,time:`git took too long. The end of the diff is missing.`,unreadable:`git could not read a file or an object. The end of the diff is missing.`};var $r=class extends _{static properties={context:{attribute:!1},taskId:{attribute:!1}};#e=`closed`;#t=Xr;async#n(){this.#e=`loading`,this.#t=Xr,this.requestUpdate();let e=`/api/v2/tasks/${encodeURIComponent(this.taskId)}/diff`;this.#e=await this.context.api.call(e).catch(e=>e instanceof D?e:new D(0,`unreachable`,String(e))),this.requestUpdate()}render(){let e=this.#e;if(e===`closed`)return g`<button @click=${this.#n}>Show the diff</button>`;if(e===`loading`)return g`<p role="status">Comparing with the commit at the start …</p>`;let t=e instanceof D?g`<p class="note ${e.code===`invalid_state`?`info`:`error`}" role="status">${Yr(e.message)}</p>`:this.#r(e);return g`${t} <button @click=${this.#n}>Compare again</button>`}#r({commit:e,directory:t,diff:n,diffBase64:r,truncated:i,omitted:o}){let{files:s,rest:l}=qr(n,this.#t);return g`
      <p class="hint">
        Changes since commit <code>${e.slice(0,12)}</code>${t===``?``:g` in <code>${c(t)}</code>`}, as the
        files are now.
      </p>
      ${i===null?S:g`<p class="note warning">${Qr[i]??`The end of the diff is missing.`}</p>`}
      ${typeof r==`string`?g`<p class="note info">Bytes that are not UTF-8 are shown as �.</p>`:S}
      ${o.length===0?S:g`<p class="note warning">Too large to be compared: ${c(o.join(`, `))}</p>`}
      ${n===``&&i===null?g`<p class="empty">No changes.</p>`:s.map(ei)}
      ${l===null?S:g`<button @click=${this.#i}>Show more (${a(n.length-l)} left)</button>`}
    `}#i(){this.#t+=5e3,this.requestUpdate()}};function ei({path:e,notes:t,lines:n}){return g`<div class="diff">
    <h3><code>${c(e)}</code></h3>
    ${t.map(e=>g`<p class="hint">${c(e)}</p>`)}
    ${n.length===0?S:g`<table aria-label="Changes of ${c(e)}"><tbody>${n.map(ni)}</tbody></table>`}
  </div>`}const ti={added:`+`,removed:`-`,same:` `,hunk:``,comment:``},ni=({kind:e,oldNumber:t,newNumber:n,text:r})=>g`<tr class=${e}><td class="line">${t}</td><td class="line">${n}</td><td class="sign">${ti[e]}</td><td class="code">${c(ri(r))}</td></tr>`,ri=e=>e.length<=Zr?e:`${e.slice(0,Zr)} … (${e.length-Zr} more characters)`;customElements.define(`bridge-task-diff`,$r);const ii=(e,t)=>g`<section aria-labelledby="diff">
    <h2 id="diff">Diff</h2>
    <bridge-task-diff .taskId=${e} .context=${t}></bridge-task-diff>
  </section>`;function ai({attempts:e,lastStatus:t,lastError:n,nextAttemptAt:r},i){let a=[`${e} ${e===1?`attempt`:`attempts`}`];return t!==null&&a.push(`HTTP ${t}`),n!==null&&n!==`http_${t}`&&a.push(c(n)),r!==null&&a.push(`next at ${ie(r,i)}`),a.join(`, `)}function oi(e,t){let{result:n,createdAt:r,startedAt:a,finishedAt:o}=e,s=o===null?t:Date.parse(o),c=n?.usage,l=[[`Started`,a===null?`not yet`:g`${oe(a,t)} <span class="detail">(${ae(a,t)})</span>`],[`Duration`,a===null?``:j(s-Date.parse(a))],[`Queue wait`,j((a===null?s:Date.parse(a))-Date.parse(r))],[`Cost`,n===null?``:i(n.costUsd)],[`Tokens`,n===null?``:c===void 0?`?`:`${m(c.inputTokens)} in, ${m(c.outputTokens)} out`]];return g`<dl class="task-figures">${l.map(([e,t])=>g`<div><dt>${e}</dt><dd>${t}</dd></div>`)}</dl>`}function si(e,t){let{result:n,callback:r}=e,i=Object.entries(e.labels),a=[[`Agent`,g`<a href=${A(`tasks?agentId=${encodeURIComponent(e.agentId)}`)}>${e.agentId}</a>`],[`Adapter`,g`<a href=${A(`adapters#${encodeURIComponent(e.provider)}`)}>${e.provider}</a>${n===null?S:` · ${n.connection}`}`],[`Model`,e.model??(n===null?null:`?`)],[`Labels`,i.length===0?null:i.map(([e,t])=>{let n=`${e}=${t}`;return g`<a class="chip" href=${A(`tasks?label=${encodeURIComponent(n)}`)}>${c(n)}</a> `})],[`Created`,oe(e.createdAt,t)],[`Ended`,e.finishedAt===null?null:oe(e.finishedAt,t)],[`Parent`,e.parentTaskId===null?null:g`<a href=${M(e.parentTaskId)}>${c(e.parentTaskId)}</a>`],[`Node`,e.node],[`Callback`,r===null?null:g`${te(r)} ${c(r.url)}
            <span class="detail">${F(e)?ai(r,t):`starts when the task ends`}</span>`],[`Metadata`,e.metadata===null?null:g`<code>${c(y(p(e.metadata),400))}</code>`]];return g`<dl class="facts">
    ${a.filter(([,e])=>e!==null).map(([e,t])=>g`<div><dt>${e}</dt><dd>${t}</dd></div>`)}
  </dl>`}function ci({state:e,errorCode:t,result:n,taskId:r,provider:i},a){if(e!==`failed`&&e!==`cancelled`)return S;let o=t??n?.errorCode??e,s=Et(o);return g`<section class="failure ${e}" aria-label="Why the task failed">
    ${li(o,n?.error??s?.cause??``)}
    ${s===null?S:g`<p class="advice">${n?.error===void 0?S:g`${Yr(s.cause)} `}${Yr(s.advice)}</p>
            <div class="actions">${s.remedies.map(e=>ui(e,{taskId:r,provider:i},a))}</div>`}
  </section>`}const li=(e,t)=>t.length>400||t.includes(`
`)?g`<p><strong>${e}</strong></p>${z(t)}`:g`<p><strong>${e}</strong> ${c(t)}</p>`;function ui(e,{taskId:t,provider:n},{mayDispatch:r,longerLimit:i,runAgain:a}){switch(e){case`open_adapter`:return g`<a class="button" href=${A(`adapters#${encodeURIComponent(n)}`)}>Open the adapter ${n}</a>`;case`change_request`:return r?g`<a class="button" href=${A(`new?from=${encodeURIComponent(t)}`)}>Run again with changes</a>`:S;case`run_again`:return r?g`<button @click=${()=>a({})}>Run again</button>`:S;case`run_longer`:return!r||i===null?S:g`<button @click=${()=>a({timeoutSeconds:i})}>Run again with ${j(i*1e3)}</button>`}}function di(e,t){return e.length===0?S:g`<section aria-labelledby="files">
    <h2 id="files">Files <span class="hint">${e.length}${e.length===200?`+`:``}</span></h2>
    <ul class="rows">
      ${e.map(e=>g`<li>
          <code>${c(e.path)}</code> <span class="detail">${a(e.bytes)}</span>
          <button @click=${()=>t(e)} aria-label="Download ${c(e.path)}">Download</button>
        </li>`)}
    </ul>
  </section>`}function fi(e,t){let n=e=>e.currentTarget.closest(`details`)?.removeAttribute(`open`);return g`<details class="menu" @focusout=${e=>{e.currentTarget.contains(e.relatedTarget)||n(e)}} @keydown=${e=>{e.key===`Escape`&&(n(e),e.currentTarget.querySelector(`summary`)?.focus())}}>
    <summary aria-label=${e}>${V(Te)}</summary>
    <ul>
      ${t.map(({name:e,run:t})=>g`<li><button @click=${e=>{n(e),t()}}>${e}</button></li>`)}
    </ul>
  </details>`}function pi(e,t,n,r){return g`<div class="task-head">
    <p class="crumb">
      <a href=${A(`tasks`)}>Tasks</a> / <code>${c(e.taskId)}</code>
      <button class="plain small" @click=${()=>n.copy(e.taskId,`id`)} aria-label="Copy the id">${V(we)}</button>
    </p>
    <div class="page-head">
      <h1>${c(e.title??e.taskId)} ${N(t)}</h1>
      <div class="actions">${gi(e,n)} ${fi(`More actions`,mi(e,n))}</div>
    </div>
    ${oi(e,r)}
  </div>`}function mi(e,{mayDispatch:t,ask:n,copy:r,togglePlainText:i}){let{taskId:a}=e;return[{name:`Copy the link`,run:()=>r(M(a),`link`)},{name:`Copy as curl`,run:()=>r(_i(`/api/v2/tasks/${encodeURIComponent(a)}`),`curl command`)},{name:`Copy as command`,run:()=>r(`brg task ${zn(a)}`,`command`)},{name:`Save as JSON`,run:()=>Mt(new Blob([JSON.stringify(e,null,2)],{type:`application/json`}),`${a}.json`)},{name:Y.isOn?`Show Markdown`:`Show plain text`,run:i},...t&&F(e)?[{name:`Delete …`,run:()=>n(`delete`)}]:[]]}const hi={cancel:`Cancel this task and its child tasks?`,delete:`Delete this task with its events and its callback?`};function gi(e,{mayDispatch:t,question:n,ask:r,confirm:i,runAgain:a,redeliver:o}){return t?n===null?g`
    ${F(e)?S:g`<button class="danger" @click=${()=>r(`cancel`)}>Cancel</button>`}
    ${e.callback?.state===`dead`?g`<button @click=${o}>Redeliver the callback</button>`:S}
    ${e.state===`completed`?g`<button @click=${a}>Run again</button>`:S}
    <a class="button" href=${A(`new?from=${encodeURIComponent(e.taskId)}`)}>Run again with changes</a>
  `:g`<span>${hi[n]}</span>
      <button class="danger" @click=${()=>i(n)}>Yes, ${n}</button>
      <button @click=${()=>r(null)}>No</button>`:S}const _i=e=>`curl ${zn(new URL(e.slice(1),r).href)} -H "Authorization: Bearer $BRIDGE_TOKEN"`;function vi({result:e,state:t}){return e===null?null:t===`completed`?e.output?{text:e.output.trim(),note:`The answer, which is shown as the result.`}:null:e.error?{text:e.error.trim(),note:`The error, which is shown above.`}:null}function yi({result:e,state:t},n,{isFolded:r}){if(e===null)return S;let{error:i,output:a=``,outputs:o}=e,s=t!==`completed`&&(a.trim()===(i??``).trim()||bi(n,a.trim())),c=a===``||s?S:X(xi(a),{level:3});return t!==`completed`&&c===S&&o===void 0?S:g`<section aria-labelledby="result">
    <h2 id="result">${t===`completed`?`Result`:`Output before the end`}</h2>
    ${r&&c!==S?g`<details><summary>The whole report</summary>${c}</details>`:c}
    ${o===void 0?S:g`<details ?open=${a===``}><summary>Structured output</summary>${z(o)}</details>`}
    ${c===S&&o===void 0?g`<p class="empty">No output.</p>`:S}
  </section>`}const bi=({turns:e},t)=>e.some(({entries:e})=>e.some(e=>e.kind===`text`&&!e.isDiscarded&&e.text.trim()===t)),xi=e=>e.replace(/^---\n(?:[\w-]+: .*\n)+---\n/,``);function Si({message:e,fields:t}){return g`<section aria-labelledby="request">
    <h2 id="request">Request</h2>
    ${typeof e==`string`&&e!==``?z(e):S}
    <details><summary>All fields</summary>${z(t)}</details>
  </section>`}function Ci({start:e,length:t},n,r,{label:i,kind:a=``}){let o=n=>Math.min(100,Math.max(0,(n-e)/t*100));return g`<svg class="lane" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label=${i}>
    <rect class="track" width="100" height="8" />
    <rect class="bar ${a}" x=${Math.min(99,o(n))} width=${Math.max(1,o(r)-o(n))} height="8" />
  </svg>`}function wi({length:t}){return g`<svg class="axis" aria-hidden="true">
    ${mn(t).map(n=>{let r=`${100*n/t}%`;return e`<line x1=${r} x2=${r} y1="20" y2="100%" /><text x=${r} y="13">${n===0?`0`:j(n)}</text>`})}
  </svg>`}function Ti(e,t,{at:n,onMove:r}){let i=e.map(({entry:e})=>G(e)),a=n=>{let a=Number(n.target.value),o=a===159?-1:i.findIndex(e=>e>=t.start+a/160*t.length);r(o===-1?e.length-1:o)},o=i[n]===void 0?0:Ei(i[n],t);return g`<div class="minimap">
    <svg viewBox="0 0 ${160} ${24}" preserveAspectRatio="none" aria-hidden="true">
      <path class="bars" d=${Oi(Di(i,t))} />
      <path class="failed" d=${Oi(Di(i.filter((t,n)=>rn.errors(e[n].entry)),t))} />
    </svg>
    <input type="range" min="0" max=${159} .value=${String(o)} aria-label="Time in the timeline" @change=${a} />
  </div>`}const Ei=(e,{start:t,length:n})=>Math.min(159,Math.max(0,Math.floor((e-t)/n*160)));function Di(e,t){let n=Array.from({length:160},()=>0);for(let r of e)n[Ei(r,t)]=n[Ei(r,t)]+1;return n}function Oi(e){return e.map((e,t)=>{let n=e===0?0:Math.min(24,6+4*Math.log2(e));return n===0?``:`M${t} 24v${-n}h0.8v${n}z`}).join(``)}var ki=class extends _{static properties={call:{attribute:!1},revision:{attribute:!1},offset:{attribute:!1},axis:{attribute:!1},now:{attribute:!1},isRunning:{attribute:!1},isForced:{attribute:!1}};#e=!1;willUpdate(e){e.has(`isForced`)&&e.get(`isForced`)!==void 0?this.#e=this.isForced:this.isForced&&!this.hasUpdated&&(this.#e=!0)}render(){let{toolName:e,input:t,isError:n,completedAt:r,invokedAt:i}=this.call,a=Date.parse(i),o=r===null?this.isRunning?this.now:a:Date.parse(r),s=r===null?this.isRunning?`running for ${j(o-a)}`:`no result`:j(o-a),l=n?`failed`:r===null?`open`:``;return g`<details class=${n?`is-error`:``} ?open=${this.#e} @toggle=${this.#t}>
      <summary>
        <span class="offset">${this.offset}</span>
        <span class="line" title=${c(_n(t))}
          ><code class="tool">${c(e)}</code> <span class="input">${c(_n(t))}</span> ${n?P(`failed`,`✕`,`error`):S}</span
        >
        ${Ci(this.axis,a,o,{label:s,kind:l})}
        <span class="time ${l}">${s}</span>
      </summary>
      ${this.#e?this.#n():S}
    </details>`}#t(e){let t=e.newState===`open`;t!==this.#e&&(this.#e=t,this.requestUpdate())}#n(){let{input:e,output:t,completedAt:n,isTruncated:r}=this.call;return g`<div class="body">
      ${r?g`<p class="note warning">Bridge cut this call, because it is longer than an event may be.</p>`:S}
      <h4>Input</h4>
      ${B(e)}
      ${n===null?S:g`<h4>Output</h4>${z(t)}`}
    </div>`}};customElements.define(`bridge-call`,ki);function Ai(e,t){let{axis:n,isRunning:r,shown:i,growing:a,isForced:o,context:s}=t,l=ji(G(e)-n.start),u=g`<span class="offset">${l}</span>`;switch(e.kind){case`text`:return e.isDiscarded?g`${u}<p class="hint">The runtime discarded ${e.text.length} characters of text.</p>`:i!==null&&e.text.trim()===i.text?g`${u}<p class="hint">${i.note}</p>`:g`${u}
        <div class="answer">${X(e.text,{level:4,isComplete:!r||e!==a})}</div>`;case`progress`:return g`${u}<p class="progress">${c(vn(e.data))}</p>`;case`group`:return e.entries.length===1?g`${u}<p class="progress">${c(vn(e.entries[0]?.data??{}))}</p>`:g`${u}<details class="progress">
          <summary>${c(bn(e))}</summary>
          <ul>${e.entries.map(({data:e})=>g`<li>${c(vn(e))}</li>`)}</ul>
        </details>`;case`child`:return g`${u}${Mi(e.task,t)}`;case`tool`:return g`<bridge-call
          .call=${e} .offset=${l} .axis=${n} .now=${ln(e)?t.now:0} .isRunning=${r}
          .revision=${`${e.completedAt}${e.isTruncated}`} .isForced=${o}
        ></bridge-call>
        ${Ni(e,s,t)}`}}function ji(e){let t=Math.max(0,e)/1e3;if(t<10)return`+${t.toFixed(1)} s`;let n=e=>String(Math.floor(e)).padStart(2,`0`),[r,i]=[Math.floor(t/3600),Math.floor(t%3600/60)];return r===0?`+${i}:${n(t%60)}`:`+${r}:${n(i)}:${n(t%60)}`}function Mi(e,{axis:t,now:n}){let{name:r,detail:i}=Sn(e),a=G({kind:`child`,task:e}),o=e.finishedAt===null?n:Date.parse(e.finishedAt),s=e.startedAt===null?`not started`:j(o-a);return g`<span class="line" title="${c(r)} ${c(i)}"
      >${e.state===`completed`?`↳`:N(T(e,n))} <a href=${M(e.taskId)}>${c(r)}</a> <span class="detail">${c(i)}</span></span
    >
    ${Ci(t,a,e.startedAt===null?a:o,{label:`Child task: ${s}`,kind:e.state===`failed`?`failed`:`child`})}
    <span class="time">${s}</span>`}function Ni(e,t,{isRunning:n,now:r}){let{approval:i}=e;return i===null?S:i.decision===null?n?g`<div class="waiting">
    <p>${P(`approval`,`!`,`needs approval`)} ${Lt(i.expiresAt,r)}</p>
    <bridge-decision
      .approvalId=${i.approvalId} .input=${e.input} .isOver=${pe(i,r)} .expiresAt=${i.expiresAt}
      .context=${t}
    ></bridge-decision>
  </div>`:S:g`<p class="hint decided">
      ${i.decision===`approve`?`Approved`:`Rejected`} by ${i.by}${i.reason===null?``:`: ${c(i.reason)}`}
    </p>`}var Pi=class extends _{static properties={timeline:{attribute:!1},task:{attribute:!1},childTasks:{attribute:!1},context:{attribute:!1},now:{attribute:!1},count:{attribute:!1},shown:{attribute:!1}};#e=`all`;#t=null;#n=null;#r=100;#i=!1;#a=null;#o=!1;updated(e){let{marked:t}=this.timeline;if(t===null||this.#o)return;let n=this.querySelector(`.marked`);if(n!==null){this.#o=!0,n.scrollIntoView({block:`center`});return}let r=this.#s().findIndex(e=>cn(e,t));r!==-1&&this.#c(r)}#s(){let{entryCount:e,turns:t}=this.timeline;return(this.#a?.entryCount!==e||this.#a.childTasks!==this.childTasks)&&(this.#a={entryCount:e,childTasks:this.childTasks,rows:an(t,this.childTasks)}),this.#a.rows}#c(e){this.#n=Math.max(0,e-5),this.#r=100,this.requestUpdate()}#l(e){return()=>{e(),this.requestUpdate()}}#u(){let{startedAt:e,createdAt:t,finishedAt:n}=this.task,r=Date.parse(e??t);return{start:r,length:fn((n===null?this.now:Date.parse(n))-r,{isRunning:!F(this.task)})}}render(){let e=this.#s(),t=!F(this.task);if(e.length===0)return g`<p class="empty">No text and no tool calls${t?` yet`:``}.</p>`;let n=this.#u(),r=this.#t??(t?`newest`:`oldest`),i=this.#e===`all`?e:e.filter(({entry:e})=>rn[this.#e](e)),a=r===`longest`?sn(i,t?this.now:null):i,o=r===`newest`,s=this.#n??(o?Math.max(0,a.length-this.#r):0),c=this.#n===null&&o?a.length:Math.min(a.length,s+this.#r),[l,u]=r===`longest`?[`longer`,`shorter`]:[`earlier`,`later`],d=s===0?S:this.#p(l,s,()=>this.#f(s)),f=c===a.length?S:this.#p(u,a.length-c,()=>this.#d(s));return g`
      ${this.#m(e,r)}
      ${a.length<40||r===`longest`?S:zt([Ri(a.length),n.length,this.#e,s],()=>Ti(a,n,{at:s,onMove:e=>this.#c(e)}))}
      ${o?f:d}
      ${a.length===0?g`<p class="empty">Nothing in the timeline matches.</p>`:this.#h(a.slice(s,c),n,r)}
      ${o?d:f}
    `}#d(e){this.#n=e,this.#r+=100}#f(e){let t=Math.min(100,e);this.#n!==null&&(this.#n=e-t),this.#r+=t}#p(e,t,n){return g`<button class="plain" @click=${this.#l(n)}>Show ${Math.min(100,t)} ${e} entries (${t} left)</button>`}#m(e,t){let n=e=>this.#l(()=>{this.#e=e,this.#n=null,this.#r=100});return g`<div class="timeline-tools">
      <div role="group" aria-label="Entries">
        ${Object.keys(rn).map(t=>{let r=e.filter(({entry:e})=>rn[t](e)).length;return g`<button aria-pressed=${t===this.#e} @click=${n(t)}>${Fi[t]} <span class="detail">${r}</span></button>`})}
      </div>
      <button aria-pressed=${this.#i} @click=${this.#l(()=>{this.#i=!this.#i})}>Open all</button>
      <select aria-label="Order" @change=${e=>{this.#t=e.target.value,this.#n=null,this.requestUpdate()}}>
        ${Object.keys(Ii).map(e=>g`<option value=${e} ?selected=${e===t}>${Ii[e]}</option>`)}
      </select>
    </div>`}#h(e,t,n){let r=!F(this.task),{timeline:i,now:a,shown:o,context:s}=this,c=n===`longest`?e.map(({turn:e,entry:t})=>({turn:e,entries:[t]})):zi(e),l={axis:t,now:a,isRunning:r,shown:o,growing:i.turns.at(-1)?.entries.at(-1),isForced:this.#i,context:s};return g`<div class="timeline-panel">
      ${zt([t.length],()=>wi(t))}
      <ol class="timeline">
        ${Ie(n===`newest`?c.toReversed():c,e=>Bi(e,n),({turn:e,entries:s})=>{let c=r&&s.some(ln)?a:Math.floor(a/6e4),u=s.map(e=>e.kind===`child`?`${e.task.taskId} ${e.task.state}`:``).join(),d=e===i.turns.at(-1),f=[e,e?.revision,s.length,s[0],u,r,d,c,t.length,i.marked,this.#i,n,o?.text];return g`<li>${zt(f,()=>this.#g(e,n===`newest`?s.toReversed():s,l))}</li>`})}
      </ol>
    </div>`}#g(e,t,n){let{marked:r}=this.timeline,i=e!==null&&Li(e),a=t=>r!==null&&cn({turn:e,entry:t},r);return g`${i?g`<h3 title=${ie(e.startedAt,n.now)}>Turn ${e.number}</h3>`:g`<span></span>`}
      <div class="entries">
        ${t.map(e=>g`<div class="entry ${e.kind} ${a(e)?`marked`:``}">${Ai(e,n)}</div>`)}
      </div>`}};const Fi={all:`All`,errors:`Errors`,tools:`Tools`,text:`Text`},Ii={oldest:`Oldest first`,newest:`Newest first`,longest:`Longest first`},Li=({entries:e})=>e.some(({kind:e})=>e!==`progress`),Ri=e=>Math.floor(Math.log(e)/Math.log(1.02));function zi(e){let t=[];for(let{turn:n,entry:r}of e){let e=t.at(-1);e!==void 0&&e.turn===n?e.entries.push(r):t.push({turn:n,entries:[r]})}return t}function Bi({turn:e,entries:[t]},n){return t?.kind===`child`&&(n===`longest`||e===null)?`child ${t.task.taskId}`:n===`longest`?t:e?.number??`start`}customElements.define(`bridge-timeline`,Pi);const Vi=({timeline:e,task:t,childTasks:n,shown:r,context:i,now:a})=>g`<bridge-timeline
    .timeline=${e} .count=${e.count} .task=${t} .childTasks=${n} .shown=${r} .context=${i} .now=${a}
  ></bridge-timeline>`,Hi=86400,Ui=new Map(Object.entries({model_error:`model`,output_limit:`message`,output_invalid:`message`,max_turns:`message`,budget_exceeded:`message`}));function Wi(e,t){let{errorCode:n,taskId:r}=e;if(n===`timeout`){let n=Gi(e,Number(t.timeoutSeconds||NaN));return n===null?{field:`timeoutSeconds`,reason:`${r} has reached this limit, which is the longest one.`}:{field:`timeoutSeconds`,value:String(n),reason:`${n<Hi?`Twice as long as before`:`The longest limit`}, because ${r} ran into its time limit.`}}let i=n===`output_invalid`&&t.output===`structured`?`outputSchema`:Ui.get(n??``);return i===void 0||n===null?null:{field:i,reason:`${r} failed with ${n}. ${Et(n)?.advice.replaceAll("`",``)??``}`}}function Gi({startedAt:e,finishedAt:t},n){let r=e===null||t===null?0:Math.round((Date.parse(t)-Date.parse(e))/1e3),i=Number.isNaN(n)?60*Math.max(1,Math.ceil(r/60)):n;return i>=Hi?null:Math.min(Hi,2*i)}function Ki(e=null){let t=[],n=/* @__PURE__ */ new Map,r=/* @__PURE__ */ new WeakMap,i=0,a=0,o,s=null,c=0,l=null,u=e=>i===0&&e.entries.some(({kind:e})=>e===`tool`);function d(e,{isModel:n}){let r=t.at(-1);if(r!==void 0&&!(n&&u(r)))return r;let i={number:t.length+1,startedAt:e,entries:[],revision:0};return t.push(i),i}function f(e,t){return e.entries.push(t),r.set(t,e),a+=1,t}function p(e,t){let n=d(e,{isModel:!0}),r=n.entries.at(-1);return r?.kind===`text`&&!r.isDiscarded?Object.assign(r,{text:r.text+t}):f(n,{kind:`text`,at:e,text:t,isDiscarded:!1})}function m(e,{toolCallId:t,toolName:r,input:a}){let o=n.get(t);if(o!==void 0)return o;let s=f(d(e,{isModel:!0}),qi(e,{toolCallId:t,toolName:r,input:a}));return n.set(t,s),i+=1,s}function h(e,t){let n=m(e,{...t,input:null});return n.completedAt===null&&--i,Object.assign(n,{completedAt:e,output:t.output,isError:t.isError})}function g(e){let{timestamp:r}=e;switch(e.type){case`assistant.text`:return p(r,e.data.content);case`assistant.text_discarded`:return Ji(t),null;case`tool.invoked`:{let t=m(r,e.data);return t.isTruncated||=e.data.truncated===!0,t}case`tool.completed`:{let t=h(r,e.data);return t.isTruncated||=e.data.truncated===!0,t}case`tool.approval_requested`:{let{approvalId:t,expiresAt:n}=e.data;return Object.assign(m(r,e.data),{approval:{approvalId:t,expiresAt:n,decision:null,by:null,reason:null}})}case`tool.approval_resolved`:{let{toolCallId:t,decision:r,by:i,reason:a}=e.data,o=n.get(t);return o?.approval!=null&&Object.assign(o.approval,{decision:r,by:i,reason:a}),o??null}case`execution.progress`:return f(d(r,{isModel:!1}),{kind:`progress`,at:r,data:e.data});default:return null}}return{turns:t,get marked(){return l},get lastEventId(){return o},get lastEventAt(){return s},get entryCount(){return a},get count(){return c},add(t){o=t.id,s=t.timestamp,c+=1;let n=g(t);n!==null&&(r.get(n).revision+=1),t.id===e&&(l=n)}}}const qi=(e,t)=>({kind:`tool`,...t,invokedAt:e,completedAt:null,output:null,isError:!1,isTruncated:!1,approval:null});function Ji(e){for(let t of e.toReversed())for(let e of t.entries.toReversed()){if(e.kind===`tool`)return;e.kind===`text`&&(e.isDiscarded=!0,t.revision+=1)}}var Yi=class extends me{#e=Ki();#t=!1;#n=null;#r=!1;#i=!1;#a=null;#o=``;#s=null;#c;#l=()=>{};#u;#d=R(this,e=>this.#p(e),{intervalMs:()=>this.#f()?6e4:Dt});connectedCallback(){super.connectedCallback(),this.#c=setInterval(()=>this.requestUpdate(),1e3),this.#l=this.context.feed.subscribe(e=>{(e?.some(({taskId:e})=>e===this.route.id)??!0)&&this.#d.refresh()}),this.#e=Ki(this.route.query.get(`event`)),this.#r=!1,this.#n=new AbortController,this.#m(this.#n.signal)}disconnectedCallback(){super.disconnectedCallback(),clearInterval(this.#c),this.#l(),this.#n?.abort()}get paintGapMs(){return this.#d.value===void 0?0:100}#f(){let e=this.#d.value?.task;return e!==void 0&&F(e)&&e.callback?.state!==`pending`}async#p(e){let t=this.#u===void 0;this.#u??=Dr(this.context.api,this.route.id);let r=await this.#u(e);return t&&(this.dispatchEvent(new CustomEvent(n,{detail:c(r.task.title??r.task.taskId),bubbles:!0})),this.#i=F(r.task)),r}async#m(e){let t=()=>{this.#t=!0};try{for await(let n of this.context.feed.followTask(this.route.id,{signal:e,onGap:t}))this.#e.add(n),this.requestUpdate();let n=this.#d.value?.task;n!==void 0&&!F(n)&&this.#d.refresh()}catch(t){e.aborted||(this.#a=t)}this.#r=!0,this.requestUpdate()}async#h(e,t){this.#s=null,this.#o=await e().then(()=>t,e=>e instanceof D?e.message:String(e)),this.#d.refresh(),this.requestUpdate()}#g(e=``){return`/api/v2/tasks/${encodeURIComponent(this.route.id)}${e}`}#_(e){e===`cancel`?this.#h(()=>this.context.api.call(this.#g(`/cancel`),{method:`POST`}),`Cancellation requested. The task ends when its runtime has stopped.`):this.#h(async()=>{await this.context.api.call(this.#g(),{method:`DELETE`}),E(A(`tasks`))},`Deleted.`)}#v({request:e}){return{mayDispatch:this.#S(),question:this.#s,ask:e=>{this.#s=e,this.requestUpdate()},confirm:e=>this.#_(e),runAgain:()=>this.#y(e,{}),redeliver:()=>{let e=`/api/v2/callbacks/${encodeURIComponent(this.route.id)}/redeliver`;this.#h(()=>this.context.api.call(e,{method:`POST`}),`Redelivery started.`)},copy:(e,t)=>void this.#C(e,t),togglePlainText:()=>{Y.toggle(),this.requestUpdate()}}}#y({message:e,fields:t,isMasked:n},r){if(n){E(A(`new?from=${encodeURIComponent(this.route.id)}`));return}let{taskId:i,...a}=t,o={...a,...e!==void 0&&{message:e},...r};this.#h(async()=>{let{taskId:e}=await this.context.api.call(`/api/v2/dispatch`,{method:`POST`,body:o});E(M(e))},``)}async#b({path:e}){let t=e.split(`/`).map(encodeURIComponent).join(`/`);try{Mt(await this.context.api.download(this.#g(`/files/${t}`)),e.split(`/`).at(-1)??`file`)}catch(e){this.#o=e instanceof D?e.message:String(e),this.requestUpdate()}}render(){let{value:e,error:t}=this.#d;if(t?.status===404)return this.#T();if(e===void 0)return g`<h1>${c(this.route.id)}</h1>${t===null?g`<p role="status">Loading …</p>`:k(t)}`;let{task:n,request:r,children:i}=e,a=v(),o=Zt(n,i),s=this.#w(n);return g`
      ${pi(n,T(s,a),this.#v(e),a)} ${k(t)}
      ${this.#o===``?S:g`<p class="note info" role="status">${c(this.#o)}</p>`}
      <div class="task-layout">
        <div class="task-main">
          ${ci(n,{mayDispatch:this.#S(),longerLimit:r.isMasked?null:Gi(n,Number(r.fields.timeoutSeconds)),runAgain:e=>this.#y(r,e)})}
          ${Xi(s,e.ahead,a)} ${o===null?S:Br(o,this.context,a)}
          ${yi(n,this.#e,{isFolded:o!==null&&o.findings.length>0})} ${Si(r)}
        </div>
        <aside aria-label="Details">${si(n,a)}</aside>
      </div>
      ${this.#x(n,i,a)}
      ${e.callback===null?S:Or(e.callback,a)}
      ${di(e.files,e=>void this.#b(e))}
      ${n.startedAt===null?S:ii(n.taskId,this.context)}
    `}#x(e,t,n){return g`<section aria-labelledby="timeline">
      <h2 id="timeline">Timeline <span class="hint">${this.#e.count} events</span></h2>
      ${this.#t?g`<p class="note warning">Earlier events of this task have been deleted.</p>`:S}
      ${this.#a===null||this.#d.error!==null?S:g`<p class="note error" role="alert">The events cannot be read: ${String(this.#a)}</p>`}
      ${this.#i&&!this.#r?g`<p role="status">Loading …</p>`:Vi({timeline:this.#e,task:e,childTasks:t,shown:vi(e),context:this.context,now:n})}
    </section>`}#S(){return this.context.identity.scopes.includes(`dispatch`)}async#C(e,t){this.#o=await nr(e)??`Copied the ${t}.`,this.requestUpdate()}#w(e){let{lastEventAt:t}=this.#e;return t!==null&&t>(e.lastProgressAt??``)?{...e,lastProgressAt:t,waitingOn:e.waitingOn===`runtime`?null:e.waitingOn}:e}#T(){return g`<h1>${c(this.route.id)}</h1>
      <p class="note warning">
        There is no such task. It never existed, belongs to another tenant, was deleted, or ended longer ago than Bridge keeps tasks
        (<code>BRIDGE_RETENTION_DAYS</code>).
      </p>
      <p><a href=${A(`tasks`)}>All tasks</a></p>`}};function Xi(e,t,n){switch(T(e,n)){case`queued`:return g`<p class="note info">
        The task ${ne(e)||`is queued`}. Your tasks for this adapter that were queued before it: ${t??`?`}.
      </p>`;case`approval`:return g`<p class="note warning">A tool call waits for your decision, in the timeline.</p>`;case`silent`:{let t=e.lastProgressAt??e.startedAt;return g`<p class="note warning">No event for ${t===null?`?`:j(n-Date.parse(t))}.</p>`}default:return S}}customElements.define(`bridge-task`,Yi);function Zi(e,t,n){let r=new Set(t),i=[...e].filter(([e])=>!r.has(e)).map(([,e])=>e),a=n&&2*i.length>=e.size?i:[],o=Math.max(-1,...e.values())+1,s=()=>(o+=1,o-1);return new Map(t.map(t=>[t,e.get(t)??a.shift()??s()]))}function Qi(){let e=/* @__PURE__ */ new Map,t=[],n=[],r=0,i=[];function a(){let e=r;return i.push(e),e}function o(e){i.splice(i.indexOf(e),1);for(let{number:t,event:r}of n)t>=e&&s(r);let t=Math.min(...i,r);n=n.filter(({number:e})=>e>=t)}function s(t){let n=e.get(t.taskId);n!==void 0&&e.set(t.taskId,$i(n,t))}return{list:(n,r)=>t.slice(n,r).map(t=>e.get(t)),get length(){return t.length},begin:a,abandon:o,applyFirst(n,r,i){let a=new Set(r.map(({taskId:e})=>e)),s=r.at(-1)?.createdAt??``,c=i?t.filter(t=>!a.has(t)&&(e.get(t)?.createdAt??``)<=s):[],l=new Set(c);for(let n of t)!a.has(n)&&!l.has(n)&&e.delete(n);for(let t of r)e.set(t.taskId,t);t=[...a,...c],o(n)},append(n,r){t=[...t,...r.filter(({taskId:t})=>!e.has(t)).map(({taskId:e})=>e)];for(let t of r)e.set(t.taskId,t);o(n)},patch(t){let a=!1;for(let o of t)i.length>0&&n.push({number:r,event:o}),r+=1,a||=!e.has(o.taskId),s(o);return a}}}function $i(e,{type:t,timestamp:n,errorCode:r}){let i=e.state===`queued`||e.state===`running`;switch(t){case`execution.started`:return e.state===`queued`?{...e,state:`running`,startedAt:n,lastProgressAt:n,waitingOn:null,queuedBecause:null}:e;case`execution.completed`:return i?{...e,state:`completed`,finishedAt:n,waitingOn:null,queuedBecause:null}:e;case`execution.failed`:return i?{...e,state:r===`cancelled`?`cancelled`:`failed`,errorCode:r,finishedAt:n,waitingOn:null,queuedBecause:null}:e;case`tool.approval_requested`:return e.state===`running`?{...e,waitingOn:`approval`,lastProgressAt:n}:e;case`tool.approval_resolved`:return e.state===`running`?{...e,waitingOn:null,lastProgressAt:n}:e;case`callback.delivered`:return e.callback===null?e:{...e,callback:{...e.callback,state:`delivered`}};case`callback.dead`:return e.callback===null?e:{...e,callback:{...e.callback,state:`dead`}};default:return e}}const ea=[{name:`All`,query:``},{name:`Running`,query:`state=running`},{name:`Failed today`,query:`created=today&state=failed`},{name:`Needs approval`,query:`waitingOn=approval`},{name:`Dead callbacks`,query:`callback=dead`}];function Z(e){let t=new URLSearchParams([...e].filter(([,e])=>e!==``));return t.sort(),t.toString()}function ta(e,t){let n=`bridge.views.${t}`,r=()=>na(e.getItem(n)),i=t=>e.setItem(n,JSON.stringify(t));return{list:r,save:e=>i([...r().filter(({name:t})=>t!==e.name),e].slice(-20)),remove:e=>i(r().filter(t=>t.name!==e))}}function na(e){try{let t=JSON.parse(e??`[]`);return Array.isArray(t)?t.filter(ra):[]}catch{return[]}}const ra=e=>typeof e==`object`&&!!e&&typeof Reflect.get(e,`name`)==`string`&&typeof Reflect.get(e,`query`)==`string`,ia=36e5,aa={hour:{name:`Last hour`,start:e=>e-ia},today:{name:`Today`,start:e=>new Date(e).setHours(0,0,0,0)},"7d":{name:`Last 7 days`,start:e=>e-168*ia},"30d":{name:`Last 30 days`,start:e=>e-720*ia}},oa=[`search`,`state`,`provider`,`agentId`,`label`,`errorCode`,`callback`,`waitingOn`,`q`,`idPrefix`,`parentTaskId`,`root`,`createdAfter`,`createdBefore`];function sa(e,t){let n=aa[e.get(`created`)??``],r=oa.map(t=>[t,e.get(t)??``]);return{...Object.fromEntries(r.filter(([,e])=>e!==``)),...n!==void 0&&!e.has(`createdAfter`)&&{createdAfter:new Date(n.start(t)).toISOString()}}}const ca=[{name:`errorCode`,label:`Error code`,values:null,example:`timeout`},{name:`callback`,label:`Callback`,values:[`pending`,`delivered`,`dead`]},{name:`waitingOn`,label:`Waits for`,values:[[`approval`,`an approval`]]},{name:`root`,label:`Child tasks`,values:[[`*`,`none`]]},{name:`parentTaskId`,label:`Parent task`,values:null,example:`id`},{name:`idPrefix`,label:`Id starts with`,values:null},{name:`q`,label:`Title contains`,values:null},{name:`createdAfter`,label:`Created after`,values:`time`},{name:`createdBefore`,label:`Created before`,values:`time`}];var la=class extends _{static properties={context:{attribute:!1},query:{attribute:!1},inRow:{attribute:!1},onQuery:{attribute:!1}};#e=``;#t=null;#n;disconnectedCallback(){super.disconnectedCallback(),clearTimeout(this.#n)}willUpdate(e){if(!e.has(`query`))return;let t=this.query.get(`search`)??``;t!==this.#e.trim()&&(clearTimeout(this.#n),this.#e=t)}focus(){this.querySelector(`input[type=search]`)?.focus()}#r(e){this.#e=e.target.value,clearTimeout(this.#n),this.#n=setTimeout(()=>this.#i(`search`,this.#e.trim()),200)}#i(e,t){let n=new URLSearchParams(this.query);clearTimeout(this.#n),this.#e.trim()===``?n.delete(`search`):n.set(`search`,this.#e.trim()),t===``?n.delete(e):n.set(e,t),Z(n)!==Z(this.query)&&this.onQuery(n)}async#a(){if(this.#t!==null)return;this.#t=[];let e=await this.context.api.list(`/api/v2/agents`,{limit:200}).catch(()=>null);this.#t=e?.data.map(({agentId:e})=>e)??null,this.requestUpdate()}#o(){return[{name:`state`,label:`State`,values:[`queued`,`running`,`completed`,`failed`,[`cancelled`,`canceled`]]},{name:`provider`,label:`Adapter`,values:this.context.attention.state.adapters.map(({provider:e})=>e)},{name:`agentId`,label:`Agent`,values:null,list:`filter-agents`},{name:`label`,label:`Label`,values:null,example:`name=value`},{name:`created`,label:`Created`,values:Object.entries(aa).map(([e,{name:t}])=>[e,t])}]}render(){let e=this.#o(),t=[...e.slice(this.inRow),...ca];return g`<search class="task-filters">
      <label class="search-box"
        >${V(Me)}<span class="visually-hidden">Search</span>
        <input
          type="search" .value=${this.#e} maxlength=${200} placeholder="Search by id, title, agent or label" spellcheck="false"
          autocomplete="off" @input=${this.#r}
        /></label>
      ${e.slice(0,this.inRow).map(e=>this.#c(e,!0))}
      ${this.#s(t)}
      ${Z(this.query)===``?S:g`<a class="button plain" href=${A(`tasks`)}>Clear</a>`}
      <datalist id="filter-agents">${(this.#t??[]).map(e=>g`<option value=${e}></option>`)}</datalist>
    </search>`}#s(e){let t=e.filter(({name:e})=>this.query.has(e)).length;return g`<details class="menu" @focusout=${e=>{let t=e.currentTarget;t.contains(e.relatedTarget)||(t.open=!1)}} @keydown=${e=>{if(e.key!==`Escape`)return;let t=e.currentTarget;t.open=!1,t.querySelector(`summary`)?.focus()}}>
      <summary>${V(Oe)} ${this.inRow===0?`Filters`:`More filters`} ${t===0?S:g`<span class="count">${t}</span>`}</summary>
      <div class="filter-panel" tabindex="-1">${e.map(e=>this.#c(e,!1))}</div>
    </details>`}#c({name:e,label:t,values:n,example:r,list:i},a){let o=this.query.get(e)??``,s=t=>this.#i(e,t.target.value.trim()),c=a?S:g`<span>${t}</span>`,l=o===``?``:`used`;if(n===`time`)return g`<label>${c} <input type="datetime-local" aria-label=${t} class=${l} .value=${d(o)} @change=${t=>this.#i(e,h(t.target.value))} /></label>`;if(n===null)return g`<label
        >${c}
        <input
          aria-label=${t} class=${l} .value=${o} @change=${s} @focus=${i===void 0?S:()=>this.#a()}
          list=${i??S} placeholder=${a?t:r??S} title=${r??S}
          spellcheck="false" autocomplete="off"
      /></label>`;let u=n.map(e=>typeof e==`string`?[e,e]:e),f=o===``||u.some(([e])=>e===o);return g`<label
      >${c}
      <select aria-label=${t} class=${l} @change=${s}>
        <option value="" ?selected=${o===``}>${a?t:`any`}</option>
        ${(f?u:[...u,[o,o]]).map(([e,t])=>g`<option value=${e} ?selected=${e===o}>${t}</option>`)}
      </select></label
    >`}};customElements.define(`bridge-task-filters`,la);const ua=[{name:`Select`,kind:`select`},{name:`State`,kind:`state`},{name:`Task`,kind:`name`},{name:`Agent`,kind:`agent`},{name:`Adapter`,kind:`provider`},{name:`Started`,kind:`started number`},{name:`Duration`,kind:`duration number`},{name:`Last event`,kind:`last number`},{name:`Cost`,kind:`cost number`},{name:`Callback`,kind:`delivery`}],da=(e,t)=>g`
  <span role="cell" class="state">${N(T(e,t))}</span>
  <span role="cell" class="name"
    ><a href=${M(e.taskId)}>${c(e.title??``)} <span class="detail">${e.taskId}${re(e)}</span></a>${fa(e)}</span
  >
  <span role="cell" class="agent">${e.agentId}</span>
  <span role="cell" class="provider">${e.provider}</span>
  <span role="cell" class="started number">${O(e.startedAt??e.createdAt,t)}</span>
  <span role="cell" class="duration number">${pa(e,t)}</span>
  <span role="cell" class="last number">${O(e.lastProgressAt,t)}</span>
  <span role="cell" class="cost number">${F(e)?i(e.costUsd):S}</span>
  <span role="cell" class="delivery">${te(e.callback)}</span>
`;function fa({labels:e}){let t=Object.entries(e);if(t.length===0)return S;let n=t.map(([e,t])=>`${e}=${t}`);return g`<span class="labels"
    >${n.map(e=>g`<a class="chip" href=${A(`tasks?${new URLSearchParams({label:e})}`)}>${c(e)}</a>`)}</span
  >`}function pa({startedAt:e,finishedAt:n,state:r},i){if(e===null||n===null&&r!==`running`)return S;let a=Date.parse(e);return t(n===null?i-a:Date.parse(n)-a)}var ma=class extends _{static properties={context:{attribute:!1},query:{attribute:!1}};#e=!1;#t(){return ta(localStorage,this.context.identity.tenant)}#n(e){this.#e=e,this.requestUpdate(),this.updateComplete.then(()=>this.querySelector(e?`.view-name`:`.save-view, [aria-current]`)?.focus())}#r(e){e.preventDefault();let t=this.querySelector(`.view-name`)?.value.trim()??``;t!==``&&(this.#t().save({name:t,query:Z(this.query)}),this.#n(!1))}#i(e){this.#t().remove(e),this.#n(!1)}render(){let e=Z(this.query),t=this.#t().list(),n=![...ea,...t].some(t=>t.query===e);return g`<div class="views">
      <nav class="tabs" aria-label="Views">
        ${[...ea,...t].map(t=>ha(t,e))}
      </nav>
      ${this.#e?this.#a():n?g`<button class="plain save-view" @click=${()=>this.#n(!0)}>${V(be)} Save this view</button>`:t.filter(t=>t.query===e).map(({name:e})=>g`<button class="plain" @click=${()=>this.#i(e)}>${V(Pe)} Remove this view</button>`)}
    </div>`}#a(){return g`<form class="name-view" @submit=${this.#r} @keydown=${e=>{e.key===`Escape`&&this.#n(!1)}}>
      <input class="view-name" aria-label="Name of the view" placeholder="Name of the view" maxlength=${40} autocomplete="off" required />
      <button class="primary" type="submit">Save</button>
      <button type="button" class="plain" @click=${()=>this.#n(!1)}>Cancel</button>
    </form>`}};const ha=(e,t)=>g`<a
  class="tab" href=${A(e.query===``?`tasks`:`tasks?${e.query}`)} aria-current=${e.query===t?`true`:S}
  >${e.name}</a
>`;customElements.define(`bridge-task-views`,ma);const ga=matchMedia(`(max-width: 760px)`),_a=matchMedia(`(max-width: 1250px)`);var va=class extends me{#e=Qi();#t=!1;#n=!1;#r=null;#i={first:0,last:0};#a=/* @__PURE__ */ new Map;#o=/* @__PURE__ */ new Set;#s=-1;#c=!1;#l=``;#u=null;#d;#f;#p=()=>{};#m=0;#h=!1;#g=R(this,e=>this.#S(e));#_=!1;#v=()=>{this.#_=!0,this.requestUpdate()};get paintGapMs(){return this.#_?0:100}connectedCallback(){super.connectedCallback(),addEventListener(`scroll`,this.#v,{passive:!0}),addEventListener(`resize`,this.#v),this.#f=setInterval(()=>this.#y(),1e3),this.#p=this.context.feed.subscribe(e=>{if(e===null)return this.#g.refresh();this.#e.patch(e)&&(this.#d??=setTimeout(()=>this.#b(),500)),this.requestUpdate()})}disconnectedCallback(){super.disconnectedCallback(),removeEventListener(`scroll`,this.#v),removeEventListener(`resize`,this.#v),clearTimeout(this.#d),clearInterval(this.#f),this.#p()}#y(){let{first:e,last:t}=this.#i;this.#e.list(e,t).some(({state:e})=>e===`running`)&&this.requestUpdate()}willUpdate(e){let t=e.get(`route`);t!==void 0&&t.query.toString()!==this.route.query.toString()&&(this.#e=Qi(),this.#m+=1,this.#h=!1,this.#r=null,this.#t=!1,this.#o.clear(),this.#s=-1,this.#g.refresh())}#b(){this.#d=void 0,this.#g.refresh()}#x(){return sa(this.route.query,v())}async#S(e){let t=this.#e,n=this.#m,r=t.begin();try{let i=await this.context.api.list(`/api/v2/tasks`,{...this.#x(),limit:100},{signal:e}),a=t.length===0;return t.applyFirst(r,i.data,i.meta.nextCursor!==null),this.#h||=n===this.#m,n===this.#m&&(a||this.#r===null||t.length<=i.data.length)&&(this.#r=i.meta.nextCursor,this.#t=i.meta.nextCursor!==null),!0}catch(e){throw t.abandon(r),e}}async#C(){if(this.#n||this.#r===null)return;this.#n=!0;let e=this.#e,t=e.begin();try{let n={...this.#x(),limit:200,cursor:this.#r},r=await this.context.api.list(`/api/v2/tasks`,n);e.append(t,r.data),e===this.#e&&(this.#r=r.meta.nextCursor,this.#t=this.#r!==null)}catch(n){e.abandon(t),this.#u=n instanceof D?n:null}finally{this.#n=!1,this.requestUpdate()}}#w=e=>{let t=e.toString();E(A(t===``?`tasks`:`tasks?${t}`),{replace:!0})};onKey(e){let{length:t}=this.#e;if(e===`/`)return this.querySelector(`bridge-task-filters`)?.focus(),!0;if((e===`j`||e===`k`)&&t>0)return this.#s=Math.min(t-1,Math.max(0,this.#s+(e===`j`?1:-1))),this.#T(),!0;let[n]=this.#e.list(this.#s,this.#s+1);return e===`x`&&n!==void 0&&(this.#E(n.taskId),!0)}async#T(){let e=this.querySelector(`.window`);if(e===null)return;let t=Q(),n=e.getBoundingClientRect().top+this.#s*t;n<0?scrollBy(0,n-t):n+t>innerHeight&&scrollBy(0,n+2*t-innerHeight),this.requestUpdate(),await this.updateComplete,this.querySelector(`[data-index="${this.#s}"] a`)?.focus({preventScroll:!0})}#E(e){this.#o.delete(e)||this.#o.add(e),this.#c=!1,this.requestUpdate()}async#D(){let e=[...this.#o];this.#c=!1,this.#l=`Canceling ${e.length} …`,this.requestUpdate();let t=[],n=async()=>{for(let n=e.pop();n!==void 0;n=e.pop()){let e=`/api/v2/tasks/${encodeURIComponent(n)}/cancel`,r=n;await this.context.api.call(e,{method:`POST`}).catch(e=>t.push(`${r}: ${String(e)}`))}},r=e.length;await Promise.all(Array.from({length:4},n)),this.#o.clear(),this.#l=t.length===0?`Cancellation requested for ${r} tasks.`:t.join(`; `),this.#g.refresh(),this.requestUpdate()}updated(){this.#_=!1;let e=this.querySelector(`.window`),t=this.querySelector(`.visible`);if(e===null||t===null)return;let n=`${this.#e.length*Q()}px`;e.style.height!==n&&(e.style.height=n),t.style.transform=`translateY(${this.#i.first*Q()}px)`,this.#t&&this.#i.last+60>this.#e.length&&this.#C()}#O(){let e=this.querySelector(`.window`)?.getBoundingClientRect().top??0,t=Math.max(0,Math.floor(-e/Q())-4);return{first:t,last:Math.min(this.#e.length,t+Math.ceil(innerHeight/Q())+8)}}render(){let e=v();this.#i=this.#O();let{first:t,last:n}=this.#i,r=this.#e.list(t,n);return this.#k(r),this.#a=Zi(this.#a,r.map(({taskId:e})=>e),this.#_),g`
      <h1>Tasks</h1>
      <bridge-task-views .context=${this.context} .query=${this.route.query}></bridge-task-views>
      <bridge-task-filters
        .context=${this.context} .query=${this.route.query} .inRow=${ya()} .onQuery=${this.#w}
      ></bridge-task-filters>
      ${k(this.#g.error??this.#u)} ${this.#j()}
      ${this.#e.length===0?this.#N():S}
      <div role="table" aria-label="Tasks" aria-rowcount=${this.#t?-1:this.#e.length+1} ?hidden=${this.#e.length===0}>
        <div role="rowgroup">
          <div role="row" class="task-row heading" aria-rowindex="1">
            ${ua.map(({name:e,kind:t})=>g`<span role="columnheader" class=${t}>${e}</span>`)}
          </div>
        </div>
        <div role="rowgroup" class="window">
          <div class="visible" role="presentation">
            ${Ie(r,({taskId:e})=>this.#a.get(e),(n,r)=>this.#A(n,t+r,e))}
          </div>
        </div>
      </div>
      ${this.#t?g`<p class="hint">${this.#e.length} tasks loaded. Scroll down for more.</p>`:S}
    `}#k(e){let t=document.activeElement,n=t?.closest(`.visible > .task-row`);n!=null&&!e.some(({taskId:e})=>e===n.dataset.task)&&t.blur()}#A(e,t,n){return g`<div role="row" class="task-row" aria-rowindex=${t+2} data-index=${t} data-task=${e.taskId}>
      <span role="cell" class="select"
        ><input
          type="checkbox" aria-label="Select ${e.taskId}" .checked=${ir(this.#o.has(e.taskId))}
          ?disabled=${F(e)} @change=${()=>this.#E(e.taskId)}
      /></span>
      ${da(e,n)}
    </div>`}#j(){let e=this.#o.size,t=this.#l===``?S:g`<p class="note info" role="status">${c(this.#l)}</p>`;if(e===0||!this.context.identity.scopes.includes(`dispatch`))return t;let n=g`<button class="danger" @click=${()=>this.#M(!0)}>Cancel ${e} ${e===1?`task`:`tasks`}</button>`,r=g`<span>Cancel ${e} and all of their child tasks?</span>
      <button class="danger" @click=${()=>this.#D()}>Yes, cancel</button>
      <button @click=${()=>this.#M(!1)}>No</button>`;return g`<div class="selection">${this.#c?r:n}</div>
      ${t}`}#M(e){this.#c=e,this.requestUpdate()}#N(){return!this.#h||this.#t?this.#g.error===null?g`<p role="status">Loading …</p>`:S:Z(this.route.query)===``?g`<p class="empty">No tasks yet. <a href=${A(`new`)}>Dispatch one</a></p>`:g`<p class="empty">No task matches. <a href=${A(`tasks`)}>Clear the filters</a></p>`}};const ya=()=>ga.matches?0:_a.matches?3:5,Q=()=>ga.matches?82:36;customElements.define(`bridge-tasks`,va);var ba=class extends _{static properties={context:{attribute:!1},commands:{attribute:!1}};#e=``;#t=[];#n=0;#r=!1;#i;#a=null;open(){this.#e=``,this.#t=[],this.#n=0,this.#r=!0,this.requestUpdate(),this.updateComplete.then(()=>this.querySelector(`dialog`)?.showModal())}disconnectedCallback(){super.disconnectedCallback(),clearTimeout(this.#i),this.#a?.abort()}#o(){let e=this.#e.toLowerCase().split(/\s+/),t=this.commands.filter(({name:t,kind:n})=>e.every(e=>`${n} ${t}`.toLowerCase().includes(e))),n=this.#t.map(e=>({name:e.title??e.taskId,kind:`task`,task:e,run:()=>E(M(e.taskId))}));return this.#e===``?t:[...t.slice(0,8),...n]}#s(e){this.#e=e.target.value.trim(),this.#n=0,clearTimeout(this.#i),this.#i=setTimeout(()=>void this.#c(),150),this.requestUpdate()}async#c(){this.#a?.abort(),this.#a=new AbortController;let{signal:e}=this.#a;if(this.#e===``)this.#t=[];else{let t=await this.#l(e).catch(()=>[]);if(e.aborted)return;this.#t=t}this.requestUpdate()}async#l(e){let t={search:this.#e,limit:8},n=await this.context.api.list(`/api/v2/tasks`,t,{signal:e}),r=n.meta.nextCursor;if(r===null||n.data.length===8)return n.data;let i=await this.context.api.list(`/api/v2/tasks`,{...t,cursor:r},{signal:e});return[...n.data,...i.data].slice(0,8)}#u(e){let t=this.#o();if(e.key===`ArrowDown`||e.key===`ArrowUp`){let n=e.key===`ArrowDown`?1:t.length-1;this.#n=t.length===0?0:(this.#n+n)%t.length,this.requestUpdate()}else if(e.key===`Enter`)this.#d(t[this.#n]);else return;e.preventDefault()}#d(e){e!==void 0&&(this.querySelector(`dialog`)?.close(),e.run())}updated(){this.querySelector(`[aria-selected=true]`)?.scrollIntoView({block:`nearest`})}render(){let e=this.#r?this.#o():[];return g`<dialog class="command-menu" aria-label="Search or jump to" @click=${this.#m} @close=${this.#p}>
      ${this.#r?this.#f(e):S}
    </dialog>`}#f(e){return g`
      <input
        type="search" role="combobox" aria-label="Search or jump to" aria-expanded="true"
        aria-controls="command-choices" aria-activedescendant=${e.length===0?S:`choice-${this.#n}`}
        placeholder="Page, action, or task by id, title, agent or label" autocomplete="off" spellcheck="false"
        .value=${this.#e} @input=${this.#s} @keydown=${this.#u}
      />
      <ul id="command-choices" role="listbox" aria-label="Matches">
        ${e.map((e,t)=>g`<li
            id="choice-${t}" role="option" aria-selected=${t===this.#n} @click=${()=>this.#d(e)}
          >${xa(e)}</li>`)}
      </ul>
      ${e.length===0?g`<p class="empty" role="status">Nothing matches.</p>`:S}`}#p(){this.#r=!1,this.requestUpdate()}#m(e){e.target instanceof HTMLDialogElement&&e.target.close()}};const xa=({name:e,kind:t,task:n})=>n===void 0?g`<span>${c(e)}</span> <span class="detail">${t}</span>`:g`${N(T(n,v()))} <span>${c(e)}</span>
        <span class="detail">${n.taskId} · ${n.agentId}</span>`;customElements.define(`bridge-command-menu`,ba);function Sa({api:e,feed:t}){let n=/* @__PURE__ */ new Set,r=new AbortController,i={approvals:[],hasMoreApprovals:!1,faults:{data:[],counts:{approval:0,failure:0,callback:0,delivery:0,adapter:0},receivers:[]},faultsAt:0,adapters:[],error:null,isLoaded:!1},a,o,s=!1,c=!1;async function l(){if(s){c=!0;return}s=!0,c=!1;let{signal:t}=r;try{let n=v(),[r,a,o]=await Promise.all([Ca(e,t),e.call(`/api/v2/attention?limit=5`,{signal:t}),e.list(`/api/v2/adapters`,{limit:200},{signal:t})]);i={approvals:r.approvals,hasMoreApprovals:r.hasMore,faults:a,faultsAt:n,adapters:o.data,error:null,isLoaded:!0}}catch(e){if(t.aborted)return;i={...i,error:e instanceof D?e:new D(0,`unexpected`,String(e))}}finally{s=!1}t.aborted||(u(),d(c?0:document.hidden?2e4:5e3))}function u(){let e=v();i={...i,approvals:i.approvals.filter(t=>!pe(t,e))};for(let e of n)e();clearTimeout(o);let t=Math.min(...i.approvals.map(({expiresAt:e})=>e===null?1/0:Date.parse(e)));t!==1/0&&(o=setTimeout(()=>{u(),d(100)},t-e))}function d(e){clearTimeout(a),a=setTimeout(()=>void l(),e)}let f=t.subscribe(e=>{(e?.some(({type:e})=>e!==`execution.started`&&e!==`execution.completed`)??!0)&&d(100)}),p=()=>{document.hidden||d(0)};return document.addEventListener(`visibilitychange`,p),l(),{get state(){return i},subscribe(e){return n.add(e),()=>void n.delete(e)},refresh:()=>d(0),close(){r.abort(),clearTimeout(a),clearTimeout(o),f(),n.clear(),document.removeEventListener(`visibilitychange`,p)}}}async function Ca(e,t){let n=[],r;for(let i=0;i<10;i+=1){let i={state:`pending`,order:`oldest`,limit:200-n.length,cursor:r},{data:a,meta:o}=await e.list(`/api/v2/approvals`,i,{signal:t});if(n.push(...a),o.nextCursor===null)return{approvals:n,hasMore:!1};if(n.length===200)break;r=o.nextCursor}return{approvals:n,hasMore:!0}}const wa=[`execution.started`,`execution.completed`,`execution.failed`,`tool.approval_requested`,`tool.approval_resolved`,`callback.delivered`,`callback.dead`];function Ta(e,t){let n=ht({url:r,token:e,retryDelayMs:150,patienceMs:2**53-1,parseJson:de}),i=/* @__PURE__ */ new Set,a=null,o=null,s,c=[],l,u,d=e=>{for(let t of i)t(e)};function f(e){d(e),o?.postMessage({events:e,lastId:s})}function p(){l=void 0;let e=c;c=[],f(e)}async function m(e){let t=()=>f(null),r=s===void 0?{signal:e,onGap:t}:{signal:e,onGap:t,after:s};for await(let e of n.events({types:wa},r))s=e.id,c.push(Da(e)),l??=setTimeout(p,50)}async function h(t){let{signal:n}=t;try{let t=await Ea(e);if(n.throwIfAborted(),t===null)return await m(n);o=new BroadcastChannel(t),o.onmessage=({data:e})=>{s=e.lastId,d(e.events)},await navigator.locks.request(t,{signal:n},()=>m(n))}catch(e){if(n.aborted)return;if(e instanceof I&&e.status===401)return await g(t);console.error(`The event stream failed.`,e)}}async function g(e){o?.close(),o=null;let n=await t();await new Promise(e=>setTimeout(e,150)),n&&!e.signal.aborted&&await h(e)}function _(){a===null&&(a=new AbortController,h(a))}function v(){a?.abort(),a=null,o?.close(),o=null}function y(){clearTimeout(u),document.hidden?u=setTimeout(v,6e4):a===null&&(_(),d(null))}return document.addEventListener(`visibilitychange`,y),_(),{subscribe(e){return i.add(e),()=>void i.delete(e)},followTask:(e,t)=>n.events(e,t),close(){document.removeEventListener(`visibilitychange`,y),clearTimeout(u),clearTimeout(l),i.clear(),v()}}}async function Ea(e){if(!isSecureContext)return null;let t=await crypto.subtle.digest(`SHA-256`,new TextEncoder().encode(`bridge stream ${e}`));return`bridge-${Array.from(new Uint8Array(t),e=>e.toString(16).padStart(2,`0`)).join(``)}`}function Da({type:e,taskId:t,agentId:n,provider:r,timestamp:i,data:a}){let{errorCode:o=null,approvalId:s=null}=a;return{type:e,taskId:t,agentId:n,provider:r,timestamp:i,errorCode:o,approvalId:s}}function Oa(){let{hash:e,pathname:t,search:n}=location;return e.startsWith(`#t=`)?(history.replaceState(history.state,``,t+n),e.slice(3)):null}async function ka(e){let t={method:`POST`,body:{ticket:e}};return(await fe(null,()=>{}).call(`/api/v2/sessions`,t)).token}const $=`bridge.token`,Aa=`Bridge no longer accepts this token. It has expired or was revoked. Sign in with another one.`;async function ja(e){let t=await e.call(`/api/v2/me`),{version:n}=await e.call(`/`);return{identity:t,version:n}}function Ma(e){let t={kind:`signed-out`,reason:null},n=()=>{},r=0,i=n=>{t=n,e()};function a(){return n(),n=()=>{},r+=1,r}function o(e){a(),sessionStorage.removeItem($),localStorage.removeItem($),i({kind:`signed-out`,reason:e})}async function s(e,{isNew:t}){let n=a(),s=t?`Bridge does not know this token. Copy the whole token: the file data/token contains it, unless the operator configured tokens.`:Aa;i({kind:`checking`});let l=async()=>!await Fa(e)||(r===n&&o(s),!1),u=fe(e,()=>void l());for(;r===n;)try{let t=await ja(u);s=Aa,r===n&&c({...t,api:u,token:e},l);return}catch(e){if(r!==n)return;e instanceof D&&e.status===401||i({kind:`unreachable`,detail:za(e)}),await new Promise(e=>setTimeout(e,1e3))}}function c(e,t){let{parts:r,close:a}=Na(e,t);n=a,i({kind:`signed-in`,context:{...e,...r}})}function l(e,t={isNew:!1}){sessionStorage.setItem($,e),s(e,t)}async function u(e){let t=a();i({kind:`checking`});let o=Ra();try{let a=await ka(e),s=()=>Pa(fe(a,()=>{})),[c,u]=await Promise.all([Ia(a),o===null?null:Ia(o)]);if(r!==t)return s();if(c===null||u===null||La(c,u))return l(a);n=s,i({kind:`confirming`,present:u,offered:c,accept:()=>{n=()=>{},l(a)},decline:d})}catch(e){if(r!==t)return;if(o!==null)return d();i({kind:`signed-out`,reason:za(e)})}}function d(){let e=Ra();e===null?i({kind:`signed-out`,reason:null}):s(e,{isNew:!1})}function f(){let e=Oa();return e!==null&&u(e),e!==null}return{get state(){return t},resume(){f()||d()},followLink:f,signIn(e,{remember:t}){t&&localStorage.setItem($,e),l(e,{isNew:!0})},signOut(){t.kind===`signed-in`&&t.context.token.startsWith(`ses_`)&&Pa(t.context.api),o(null)}}}function Na({token:e,api:t},n){let r=Ta(e,n),i=Sa({api:t,feed:r});return{parts:{feed:r,attention:i},close(){i.close(),r.close()}}}function Pa(e){e.call(`/api/v2/sessions/current`,{method:`DELETE`}).catch(()=>{})}const Fa=e=>Ia(e).then(e=>e===null,()=>!1);async function Ia(e){try{return await fe(e,()=>{}).call(`/api/v2/me`)}catch(e){if(e instanceof D&&e.status===401)return null;throw e}}const La=(e,t)=>e.name===t.name&&e.tenant===t.tenant,Ra=()=>sessionStorage.getItem($)??localStorage.getItem($),za=e=>e instanceof D?e.message:String(e),Ba={overview:`Overview`,tasks:`Tasks`,task:`Task`,new:`New task`,approvals:`Approvals`,callbacks:`Callbacks`,webhooks:`Webhooks`,adapters:`Adapters`,usage:`Usage`,missing:`Not found`},Va={new:()=>import(`./new-CeLkerYb.js`),callbacks:()=>import(`./callbacks-CPkSeHtW.js`),webhooks:()=>import(`./webhooks-CXNVA5WR.js`),adapters:()=>import(`./adapters-BsHbYm1i.js`),usage:()=>import(`./usage-CNo-bnp3.js`)},Ha=[{page:`overview`,path:``,sign:Ee},{page:`tasks`,path:`tasks`,sign:De},{page:`approvals`,path:`approvals`,sign:Se},{page:`callbacks`,path:`callbacks`,sign:Ne},{page:`webhooks`,path:`webhooks`,sign:ye},{page:`adapters`,path:`adapters`,sign:Ae},{page:`usage`,path:`usage`,sign:xe}];var Ua=class extends _{#e=Ma(()=>this.#o());#t=Ut();#n=se();#r=this.#n.id;#i=null;#a=()=>{};connectedCallback(){super.connectedCallback(),addEventListener(`popstate`,()=>this.#c()),addEventListener(`hashchange`,()=>this.#e.followLink()),this.addEventListener(n,e=>{this.#r=e.detail,this.#s()}),addEventListener(`click`,e=>this.#l(e)),addEventListener(`keydown`,e=>this.#u(e)),this.#e.resume()}#o(){let{state:e}=this.#e;this.#a(),this.#t.reset(),this.#a=e.kind===`signed-in`?e.context.attention.subscribe(()=>this.#s()):()=>{},e.kind===`signed-in`?this.#s():this.#t.update(`Sign in`,{approvals:[],hasMoreApprovals:!1}),this.requestUpdate()}#s(){let{state:e}=this.#e;if(e.kind!==`signed-in`)return;let t=this.#n.page===`task`?this.#r:Ba[this.#n.page];this.#t.update(t,e.context.attention.state),this.requestUpdate()}#c(){this.#e.followLink();let e=this.#n;this.#n=se(),e.id!==this.#n.id&&(this.#r=this.#n.id),this.#s(),(e.page!==this.#n.page||e.id!==this.#n.id)&&(scrollTo(0,0),this.updateComplete.then(()=>this.querySelector(`main`)?.focus({preventScroll:!0})))}#l(e){let t=ue(e);t!==null&&this.#e.state.kind===`signed-in`&&(e.preventDefault(),E(t))}#u(e){if(e.key===`k`&&(e.ctrlKey||e.metaKey)&&document.querySelector(`dialog[open]`)===null){e.preventDefault(),this.#f();return}if(e.ctrlKey||e.metaKey||e.altKey||Ka(e))return;let t=this.querySelector(`dialog.help`);e.key===`?`&&t!==null?(e.preventDefault(),t.open?t.close():t.showModal()):document.querySelector(`dialog[open]`)===null&&this.querySelector(`[data-page]`)?.onKey(e.key,e)===!0&&e.preventDefault()}render(){let{state:e}=this.#e;switch(e.kind){case`signed-out`:return g`<bridge-sign-in
          .reason=${e.reason}
          .onSignIn=${(e,t)=>this.#e.signIn(e,t)}
        ></bridge-sign-in>`;case`checking`:return g`<main class="sign-in"><p role="status">Signing in …</p></main>`;case`unreachable`:return g`<main class="sign-in">
          <h1>Bridge</h1>
          <p class="note error" role="alert">${c(e.detail)}</p>
          <p role="status">Trying again …</p>
          <button @click=${()=>this.#e.signOut()}>Sign out</button>
        </main>`;case`confirming`:return Wa(e);case`signed-in`:return this.#d(e.context)}}#d(e){let{identity:t,version:n,attention:r}=e,{page:i,id:a}=this.#n;return g`
      <a class="skip" href="#main" @click=${e=>this.#_(e)}>Skip to the content</a>
      <header class="shell">
        <a class="brand" href=${A(``)}>${Ht} Bridge</a>
        <a class="button primary new" href=${A(`new`)} aria-current=${i===`new`?`page`:S}
          >${V(je)}<span>New task</span></a
        >
        <button class="find" @click=${()=>this.#f()} aria-keyshortcuts="Control+K Meta+K">
          ${V(Me)}<span>Search</span><kbd aria-hidden="true">Ctrl K</kbd>
        </button>
        <nav aria-label="Pages">${Ha.map(t=>this.#m(t,e))}</nav>
        <div class="who">
          ${Ga(r.state.error)?g`<span class="connection lost" role="status">reconnecting …</span>`:g`<span class="connection" role="status">live</span>`}
          <dl>
            <div><dt>Token</dt><dd>${t.name}</dd></div>
            <div><dt>Tenant</dt><dd>${t.tenant}</dd></div>
            <div><dt>Version</dt><dd>${n}</dd></div>
          </dl>
          <button class="plain" title="${t.name}, tenant ${t.tenant}" @click=${()=>this.#e.signOut()}>${V(ke)} Sign out</button>
        </div>
      </header>
      <main id="main" tabindex="-1">${he(`${i}/${a}`,this.#g(e))}</main>
      <bridge-command-menu .context=${e} .commands=${this.#p(e)}></bridge-command-menu>
      ${Ja()}
    `}#f(){this.querySelector(`bridge-command-menu`)?.open()}#p({attention:e}){let t=(e,t,n=`page`)=>({name:e,kind:n,run:()=>E(A(t))});return[...Ha.map(({page:e,path:n})=>t(Ba[e],n)),t(`New task`,`new`,`action`),t(`Running tasks`,`tasks?state=running`,`view`),t(`Failed tasks`,`tasks?state=failed`,`view`),{name:`Show the keys`,kind:`action`,run:()=>this.querySelector(`dialog.help`)?.showModal()},{name:`Sign out`,kind:`action`,run:()=>this.#e.signOut()},...e.state.adapters.map(({provider:e})=>t(e,`tasks?provider=${encodeURIComponent(e)}`,`tasks of adapter`))]}#m({page:e,path:t,sign:n},{attention:r}){let{approvals:i,hasMoreApprovals:a,faults:o}=r.state,s={approvals:f(i.length,a),callbacks:String(o.counts.callback),webhooks:String(o.counts.delivery)}[e]??`0`,c=this.#n.page===e||this.#n.page===`task`&&e===`tasks`;return g`<a href=${A(t)} aria-current=${c?`page`:S}
      >${V(n)} ${Ba[e]}${s===`0`?S:g` <span class="count">${s}</span>`}</a
    >`}async#h(e){try{await Va[e]?.()}catch{this.#i=e}this.requestUpdate()}#g(e){let t=this.#n;if(this.#i===t.page)return g`<h1>${Ba[t.page]}</h1>
        <p class="note error" role="alert">Bridge did not answer, or it was upgraded. <button @click=${()=>location.reload()}>Load again</button></p>`;if(Va[t.page]!==void 0&&customElements.get(`bridge-${t.page}`)===void 0)return this.#h(t.page),g`<p role="status">Loading …</p>`;switch(t.page){case`overview`:return g`<bridge-overview data-page .context=${e} .route=${t}></bridge-overview>`;case`new`:return g`<bridge-new data-page .context=${e} .route=${t}></bridge-new>`;case`approvals`:return g`<bridge-approvals data-page .context=${e} .route=${t}></bridge-approvals>`;case`callbacks`:return g`<bridge-callbacks data-page .context=${e} .route=${t}></bridge-callbacks>`;case`webhooks`:return g`<bridge-webhooks data-page .context=${e} .route=${t}></bridge-webhooks>`;case`adapters`:return g`<bridge-adapters data-page .context=${e} .route=${t}></bridge-adapters>`;case`usage`:return g`<bridge-usage data-page .context=${e} .route=${t}></bridge-usage>`;case`tasks`:return g`<bridge-tasks data-page .context=${e} .route=${t}></bridge-tasks>`;case`task`:return g`<bridge-task data-page .context=${e} .route=${t}></bridge-task>`;default:return g`<h1>Not found</h1>
          <p>The console has no such page. <a href=${A(``)}>Overview</a></p>`}}#_(e){e.preventDefault(),this.querySelector(`#main`)?.focus()}};const Wa=({present:e,offered:t,accept:n,decline:r})=>g`
  <main class="sign-in">
    <h1>Bridge</h1>
    <p role="alert">
      You are signed in as ${e.name} (tenant ${e.tenant}). Sign in as ${t.name} (tenant ${t.tenant})?
    </p>
    <p class="hint">Continue only if you created this link or expected it.</p>
    <button class="primary" @click=${r}>Stay signed in as ${e.name}</button>
    <button @click=${n}>Sign in as ${t.name}</button>
  </main>
`,Ga=e=>e!==null&&(e.status===0||e.status>=500);function Ka(e){let[t]=e.composedPath();return t instanceof HTMLElement&&t.matches(`input:not([type=checkbox]), textarea, select, [contenteditable]`)}const qa=[[`Ctrl-K`,`search or jump to`],[`/`,`search or filter`],[`j, k`,`next or previous row`],[`Enter`,`open the row`],[`x`,`select the row`],[`a a, r r`,`approve or reject the selected tool call`],[`?`,`this help`]],Ja=()=>g`
  <dialog class="help" aria-labelledby="help-title">
    <h2 id="help-title">Keys</h2>
    <dl>${qa.map(([e,t])=>g`<dt><kbd>${e}</kbd></dt><dd>${t}</dd>`)}</dl>
    <form method="dialog" @submit=${Ya}><button>Close</button></form>
  </dialog>
`;function Ya(e){e.preventDefault(),e.target.closest(`dialog`)?.close()}customElements.define(`bridge-app`,Ua);export{kn as C,Ie as E,An as S,R as T,Gn as _,mr as a,Xn as b,vr as c,dr as d,ur as f,$n as g,Kn as h,Sr as i,_r as l,rr as m,ai as n,yr as o,q as p,Yr as r,hr as s,Wi as t,fr as u,Qn as v,V as w,tr as x,er as y};