import{$ as e,A as t,B as n,C as r,D as i,E as a,F as o,G as s,H as c,I as l,J as u,K as d,L as f,M as p,N as m,O as h,P as g,Q as _,R as v,S as y,T as b,U as x,V as ee,W as te,X as S,Y as C,Z as w,_ as T,a as E,b as ne,c as re,d as D,f as ie,g as O,h as ae,i as k,j as oe,k as se,l as A,m as ce,n as le,o as j,p as ue,q as de,r as M,s as N,t as fe,u as pe,v as me,w as P,x as F,y as I,z as he}from"./shared-Cl6XpTc0.js";
/**
* @license
* Copyright 2021 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/const ge=de(class extends u{constructor(){super(...arguments),this.key=S}render(e,t){return this.key=e,t}update(e,[t,n]){return t!==this.key&&(x(e),this.key=t),n}}),_e={xmlns:`http://www.w3.org/2000/svg`,width:24,height:24,viewBox:`0 0 24 24`,fill:`none`,stroke:`currentColor`,"stroke-width":2,"stroke-linecap":`round`,"stroke-linejoin":`round`},ve=([e,t,n])=>{
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
let r=document.createElementNS(`http://www.w3.org/2000/svg`,e);return Object.keys(t).forEach(e=>{r.setAttribute(e,String(t[e]))}),n?.length&&n.forEach(e=>{let t=ve(e);r.appendChild(t)}),r},ye=(e,t={})=>{let n={..._e,...t};return ve([`svg`,n,e])},be=[[`path`,{d:`M10.268 21a2 2 0 0 0 3.464 0`}],[`path`,{d:`M3.262 15.326A1 1 0 0 0 4 17h16a1 1 0 0 0 .74-1.673C19.41 13.956 18 12.499 18 8A6 6 0 0 0 6 8c0 4.499-1.411 5.956-2.738 7.326`}]],xe=[[`path`,{d:`M12 7v6`}],[`path`,{d:`M15 10H9`}],[`path`,{d:`M17 3a2 2 0 0 1 2 2v15a1 1 0 0 1-1.496.868l-4.512-2.578a2 2 0 0 0-1.984 0l-4.512 2.578A1 1 0 0 1 5 20V5a2 2 0 0 1 2-2z`}]],Se=[[`path`,{d:`M5 21v-6`}],[`path`,{d:`M12 21V3`}],[`path`,{d:`M19 21V9`}]],Ce=[[`path`,{d:`m6 9 6 6 6-6`}]],we=[[`path`,{d:`m9 18 6-6-6-6`}]],Te=[[`path`,{d:`M21.801 10A10 10 0 1 1 17 3.335`}],[`path`,{d:`m9 11 3 3L22 4`}]],Ee=[[`circle`,{cx:`12`,cy:`12`,r:`10`}],[`path`,{d:`m16 9-5.5 5.5L8 12`}]],De=[[`rect`,{width:`14`,height:`14`,x:`8`,y:`8`,rx:`2`,ry:`2`}],[`path`,{d:`M4 16c-1.1 0-2-.9-2-2V4c0-1.1.9-2 2-2h10c1.1 0 2 .9 2 2`}]],Oe=[[`circle`,{cx:`12`,cy:`12`,r:`1`}],[`circle`,{cx:`19`,cy:`12`,r:`1`}],[`circle`,{cx:`5`,cy:`12`,r:`1`}]],ke=[[`rect`,{width:`7`,height:`9`,x:`3`,y:`3`,rx:`1`}],[`rect`,{width:`7`,height:`5`,x:`14`,y:`3`,rx:`1`}],[`rect`,{width:`7`,height:`9`,x:`14`,y:`12`,rx:`1`}],[`rect`,{width:`7`,height:`5`,x:`3`,y:`16`,rx:`1`}]],Ae=[[`path`,{d:`M13 5h8`}],[`path`,{d:`M13 12h8`}],[`path`,{d:`M13 19h8`}],[`path`,{d:`m3 17 2 2 4-4`}],[`path`,{d:`m3 7 2 2 4-4`}]],je=[[`path`,{d:`M2 5h20`}],[`path`,{d:`M6 12h12`}],[`path`,{d:`M9 19h6`}]],Me=[[`path`,{d:`m16 17 5-5-5-5`}],[`path`,{d:`M21 12H9`}],[`path`,{d:`M9 21H5a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2h4`}]],Ne=[[`path`,{d:`M4 5h16`}],[`path`,{d:`M4 12h16`}],[`path`,{d:`M4 19h16`}]],Pe=[[`path`,{d:`M12 22v-5`}],[`path`,{d:`M15 8V2`}],[`path`,{d:`M17 8a1 1 0 0 1 1 1v4a4 4 0 0 1-4 4h-4a4 4 0 0 1-4-4V9a1 1 0 0 1 1-1z`}],[`path`,{d:`M9 8V2`}]],Fe=[[`path`,{d:`M5 12h14`}],[`path`,{d:`M12 5v14`}]],Ie=[[`path`,{d:`m13.5 8.5-5 5`}],[`path`,{d:`m8.5 8.5 5 5`}],[`circle`,{cx:`11`,cy:`11`,r:`8`}],[`path`,{d:`m21 21-4.3-4.3`}]],Le=[[`path`,{d:`m21 21-4.34-4.34`}],[`circle`,{cx:`11`,cy:`11`,r:`8`}]],Re=[[`path`,{d:`M14.536 21.686a.5.5 0 0 0 .937-.024l6.5-19a.496.496 0 0 0-.635-.635l-19 6.5a.5.5 0 0 0-.024.937l7.93 3.18a2 2 0 0 1 1.112 1.11z`}],[`path`,{d:`m21.854 2.147-10.94 10.939`}]],ze=[[`path`,{d:`M18 6 6 18`}],[`path`,{d:`m6 6 12 12`}]],Be=(e,t,n)=>{
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
let r=/* @__PURE__ */ new Map;for(let i=t;i<=n;i++)r.set(e[i],i);return r},L=de(class extends u{constructor(e){if(super(e),e.type!==C.CHILD)throw Error(`repeat() can only be used in text expressions`)}dt(e,t,n){let r;n===void 0?n=t:t!==void 0&&(r=t);let i=[],a=[],o=0;for(let t of e)i[o]=r?r(t,o):o,a[o]=n(t,o),o++;return{values:a,keys:i}}render(e,t,n){return this.dt(e,t,n).values}update(e,[t,n,r]){let i=ee(e),{values:a,keys:o}=this.dt(t,n,r);if(!Array.isArray(i))return this.ut=o,a;let l=this.ut??=[],u=[],f,p,m=0,h=i.length-1,g=0,_=a.length-1;for(;m<=h&&g<=_;)if(i[m]===null)m++;else if(i[h]===null)h--;else if(l[m]===o[g])u[g]=s(i[m],a[g]),m++,g++;else if(l[h]===o[_])u[_]=s(i[h],a[_]),h--,_--;else if(l[m]===o[_])u[_]=s(i[m],a[_]),d(e,u[_+1],i[m]),m++,_--;else if(l[h]===o[g])u[g]=s(i[h],a[g]),d(e,i[m],i[h]),h--,g++;else if(f===void 0&&(f=Be(o,g,_),p=Be(l,m,h)),f.has(l[m])){if(f.has(l[h])){let t=p.get(o[g]),n=t===void 0?null:i[t];if(n===null){let t=d(e,i[m]);s(t,a[g]),u[g]=t}else u[g]=s(n,a[g]),d(e,i[m],n),i[t]=null;g++}else c(i[h]),h--}else c(i[m]),m++;for(;g<=_;){let t=d(e,u[_+1]);s(t,a[g]),u[g++]=t}for(;m<=h;){let e=i[m++];e!==null&&c(e)}return this.ut=o,x(e,u),w}});function Ve(e,t){let{url:n,patienceMs:r=12e4,retryDelayMs:i=500,silenceMs:a=31e3,parseJson:o=e=>JSON.parse(e)}=e;return{baseUrl:He(n),getToken:t,fetch:e.fetch??((e,t)=>fetch(e,t)),silenceMs:a,retryDelayMs:i,patienceMs:r,parseJson:o,contact:{hasAnswered:e.waitsForStart===!0}}}function He(e){let{href:t,protocol:n,username:r,password:i,search:a,hash:o}=new URL(e);if(!/^https?:$/.test(n)||r+i+a+o!==``)throw TypeError("`url` must be an http or https URL without credentials, query or fragment.");return t.replace(/\/*$/,`/`)}function Ue({retryDelayMs:e,patienceMs:t,contact:n}){let r=null,i=0;return{async wait(a,o){if(!n.hasAnswered&&Ge(a))throw a;r??=performance.now();let s=Math.min(e*2**i,e*20),c=Math.max(s*(.5+Math.random()/2),a.retryAfterMs??0);if(performance.now()-r+c>t)throw a;i+=1,await Ke(c,o)},reset(){r=null,i=0}}}const We=/* @__PURE__ */ new Set([`ECONNREFUSED`,`ENOTFOUND`,`EAI_AGAIN`,`EHOSTUNREACH`,`ENETUNREACH`,`UND_ERR_CONNECT_TIMEOUT`]);function Ge({code:e,cause:t}){let n=t instanceof Error?t.cause?.code:void 0;return e===`unreachable`&&typeof n==`string`&&We.has(n)}function Ke(e,t){return new Promise((n,r)=>{let i=()=>{clearTimeout(a),r(t?.reason)},a=setTimeout(()=>{t?.removeEventListener(`abort`,i),n()},e);t?.aborted===!0?i():t?.addEventListener(`abort`,i,{once:!0})})}var R=class extends Error{name=`BridgeClientError`;code;status;requestId;errors;retryAfterMs;queue;closeCode;constructor(e,t,n={}){super(t,{cause:n.cause}),this.code=e,this.status=n.status??null,this.requestId=n.requestId??null,this.errors=n.errors??[],this.retryAfterMs=n.retryAfterMs??null,this.queue=n.queue??null,this.closeCode=n.closeCode??null}};async function qe(e){let{status:t,headers:n}=e,r=await e.text(),i=Je(r),a=Number(n.get(`retry-after`)??NaN);return new R(i?.code??`unexpected_answer`,i?.detail??`HTTP ${t}: ${r.slice(0,200)}`,{status:t,requestId:i?.requestId??n.get(`x-request-id`),errors:i?.errors,queue:i?.queue,retryAfterMs:Number.isFinite(a)?a*1e3:null})}function Je(e){try{let t=JSON.parse(e);return typeof t==`object`&&t&&`code`in t&&typeof t.code==`string`?t:null}catch{return null}}async function Ye({baseUrl:e,getToken:t,fetch:n,silenceMs:r,contact:i},{path:a,method:o=`GET`,headers:s,body:c,content:l,waitMs:u=0,signal:d}){d?.throwIfAborted();let f=e+a.slice(1);if(new URL(f).href!==f)throw new R(`not_found`,`An id or a path must not be . or .., or contain one of them between slashes.`);let p=l===void 0?c===void 0?void 0:`application/json`:`application/octet-stream`,m=new Headers({...s,...p!==void 0&&{"content-type":p}});m.set(`authorization`,`Bearer ${Xe(await t())}`);let h=new AbortController,g=()=>h.abort(d?.reason);d?.addEventListener(`abort`,g);async function _(t){let n=r+u,i=setTimeout(()=>h.abort(/* @__PURE__ */ Error(`no data received for ${n/1e3} s`)),n);try{return await t}catch(t){throw d?.throwIfAborted(),new R(`unreachable`,`Cannot reach Bridge at ${e}: ${Ze(t)}`,{cause:t})}finally{clearTimeout(i)}}function v(){d?.removeEventListener(`abort`,g),h.abort()}try{let e=await _(n(f,{method:o,headers:m,body:l??(c===void 0?null:JSON.stringify(c)),signal:h.signal}));if(i.hasAnswered=!0,!e.ok)throw await _(qe(e));return{response:e,receive:_,close:v}}catch(e){throw v(),e}}function Xe(e){if(/^[\x20-\x7e]*$/.test(e.trim()))return e.trim();throw TypeError(`The token contains characters that are not allowed in a header.`)}function Ze(e){return e instanceof Error?e.cause instanceof Error&&e.cause.message!==``?e.cause.message:e.message:String(e)}const Qe=({type:e})=>e===`execution.completed`||e===`execution.failed`;var $e=class extends Error{constructor(e,t){super(e),this.name=`ParseError`,this.type=t.type,this.field=t.field,this.value=t.value,this.line=t.line}};function et(e){if(typeof e==`function`)throw TypeError("`config` must be an object, got a function instead. Did you mean `createParser({onEvent: fn})`?");let{maxBufferSize:t,onComment:n,onError:r,onEvent:i,onId:a,onRetry:o}=e,s=[],c=0,l=``,u,d=``,f=0,p,m=!1,h=!1,g=!1;function _(e){if(m)throw Error("Cannot feed parser: it was terminated after exceeding the configured max buffer size. Call `reset()` to resume parsing.");if(l!==void 0){if(e=l+e,e===``||e===`ï`||e===`ï»`){l=e;return}l=void 0,e=e.replace(/^(?:\uFEFF|\xEF\xBB\xBF)/,``)}if((h||g)&&(e=v(e),!e))return;if(!s.length){let t=ee(e);t!==``&&y(t),x();return}if(e.indexOf(`
`)===-1&&e.indexOf(`\r`)===-1){if(c<6&&!b(s.join(``)+e.slice(0,6-c))){s.length=0,c=0,h=!0;return}s.push(e),c+=e.length,x();return}s.push(e);let t=s.join(``);s.length=0,c=0,y(ee(t)),x()}function v(e){if(e.length===0)return e;if(g)return g=!1,e.charCodeAt(0)===10?e.slice(1):e;let t=e.indexOf(`\r`),n=e.indexOf(`
`),r=t===-1?n:n===-1||t<n?t:n;return r===-1?``:r===e.length-1&&e.charCodeAt(r)===13?(h=!1,g=!0,``):(h=!1,e.slice(r+(e.charCodeAt(r)===13&&e.charCodeAt(r+1)===10?2:1)))}function y(e){if(e){if(e.charCodeAt(e.length-1)===13){if(te(e,0,e.length-1),x())return;g=!0}else b(e)?(s.push(e),c=e.length):h=!0}}function b(e){let t=e.charCodeAt(0);return t===58&&!!n||t===100&&rt(e,`data`)||t===101&&rt(e,`event`)||t===105&&rt(e,`id`)||t===114&&rt(e,`retry`)}function x(){return m?!0:t===void 0||c+d.length<=t?!1:(m=!0,s.length=0,c=0,u=void 0,d=``,f=0,p=void 0,h=!1,g=!1,r?.(new $e(`Buffered data exceeded max buffer size of ${t} characters`,{type:`max-buffer-size-exceeded`})),!0)}function ee(e){let t=0;if(e.indexOf(`\r`)===-1){let n=e.indexOf(`
`,t);for(;n!==-1;){if(t===n){u!==void 0&&a?.(u),f>0&&i?.({id:u,event:p,data:d}),u=void 0,d=``,f=0,p=void 0,t=n+1,n=e.indexOf(`
`,t);continue}let r=e.charCodeAt(t);if(tt(e,t,r)){let r=e.charCodeAt(t+5)===32?t+6:t+5,o=e.slice(r,n);if(f===0&&e.charCodeAt(n+1)===10){u!==void 0&&a?.(u),i?.({id:u,event:p,data:o}),u=void 0,d=``,p=void 0,t=n+2,n=e.indexOf(`
`,t);continue}d=f===0?o:`${d}\n${o}`,f++}else nt(e,t,r)?p=e.slice(e.charCodeAt(t+6)===32?t+7:t+6,n)||void 0:te(e,t,n);if(x())return``;t=n+1,n=e.indexOf(`
`,t)}return e.slice(t)}let n=e.indexOf(`\r`,t),r=e.indexOf(`
`,t);for(;t<e.length;){let i=-1;if(n!==-1&&r!==-1?i=n<r?n:r:n===-1?r!==-1&&(i=r):i=n===e.length-1?-1:n,i===-1)break;if(te(e,t,i),x())return``;t=i+1,e.charCodeAt(t-1)===13&&e.charCodeAt(t)===10&&t++,n!==-1&&n<t&&(n=e.indexOf(`\r`,t)),r!==-1&&r<t&&(r=e.indexOf(`
`,t))}return e.slice(t)}function te(e,t,r){if(t===r){C();return}let i=e.charCodeAt(t);if(tt(e,t,i)){let n=e.charCodeAt(t+5)===32?t+6:t+5,i=e.slice(n,r);d=f===0?i:`${d}\n${i}`,f++;return}if(nt(e,t,i)){p=e.slice(e.charCodeAt(t+6)===32?t+7:t+6,r)||void 0;return}if(i===105&&e.charCodeAt(t+1)===100&&e.charCodeAt(t+2)===58){let n=e.slice(e.charCodeAt(t+3)===32?t+4:t+3,r);n.includes(`\0`)||(u=n);return}if(i===58){if(n){let i=e.slice(t,r);n(i.slice(e.charCodeAt(t+1)===32?2:1))}return}let a=e.slice(t,r),o=a.indexOf(`:`);if(o===-1){S(a,``,a);return}let s=a.slice(0,o),c=a.charCodeAt(o+1)===32?2:1;S(s,a.slice(o+c),a)}function S(e,t,n){switch(e){case`event`:p=t||void 0;break;case`data`:d=f===0?t:`${d}\n${t}`,f++;break;case`id`:t.includes(`\0`)||(u=t);break;case`retry`:/^\d+$/.test(t)?o?.(parseInt(t,10)):r?.(new $e(`Invalid \`retry\` value: "${t}"`,{type:`invalid-retry`,value:t,line:n}));break;default:r?.(new $e(`Unknown field "${e.length>20?`${e.slice(0,20)}…`:e}"`,{type:`unknown-field`,field:e,value:t,line:n}))}}function C(){u!==void 0&&a?.(u),f>0&&i?.({id:u,event:p,data:d}),u=void 0,d=``,f=0,p=void 0}function w(e={}){if(e.consume&&s.length>0){let e=s.join(``);te(e,0,e.length)}l=``,u=void 0,d=``,f=0,p=void 0,s.length=0,c=0,m=!1,h=!1,g=!1}return{feed:_,reset:w}}function tt(e,t,n){return n===100&&e.charCodeAt(t+1)===97&&e.charCodeAt(t+2)===116&&e.charCodeAt(t+3)===97&&e.charCodeAt(t+4)===58}function nt(e,t,n){return n===101&&e.charCodeAt(t+1)===118&&e.charCodeAt(t+2)===101&&e.charCodeAt(t+3)===110&&e.charCodeAt(t+4)===116&&e.charCodeAt(t+5)===58}function rt(e,t){let n=1;for(;n<e.length&&n<t.length;){if(e.charCodeAt(n)!==t.charCodeAt(n))return!1;n++}return e.length<=t.length||e.charCodeAt(t.length)===58}async function*it({response:e,receive:t,close:n}){try{if(e.body===null)return;let n=e.body.pipeThrough(new TextDecoderStream).getReader();for(;;){let e=await t(n.read());if(e.done)return;yield e.value}}finally{n()}}async function*at(e){let t=[],n=et({onId:e=>void t.push({id:e}),onEvent:({event:e=`message`,data:n})=>void t.push({event:e,data:n})});for await(let r of it(e))n.feed(r),yield t,t=[]}const ot=({status:e,code:t})=>(e===429||e===503)&&t!==`adapter_offline`,st=({status:e,code:t})=>t===`unreachable`||t===`too_slow`||e===502||e===504;function ct(e,t){return e instanceof R&&(ot(e)||t&&st(e))}async function lt(e,{isRepeatable:t,signal:n,...r}){let i=Ue(r);for(;;)try{return await e()}catch(e){if(!ct(e,t))throw e;await i.wait(e,n)}}async function*ut(e,{after:t,signal:n,onGap:r},i){let a=dt(e),o=Ue(i),s=t;for(;;){let t;try{let c=await Ye(i,{path:a,headers:{accept:`text/event-stream`,...s!==void 0&&{"last-event-id":s}},signal:n});if(c.response.status===204)return c.close();ft(c);for await(let t of at(c)){o.reset();for(let n of t)if(`id`in n)s=n.id;else if(n.event===`stream.gap`)pt(JSON.parse(n.data),r);else if(!n.event.startsWith(`stream.`)){let t=i.parseJson(n.data);if(yield t,typeof e==`string`&&Qe(t))return}}t=new R(`unreachable`,`Bridge ended the event stream.`)}catch(e){if(!ct(e,!0))throw e;t=e}await o.wait(t,n)}}function dt(e){if(typeof e==`string`)return`/api/v2/tasks/${encodeURIComponent(e)}/events`;let{types:t,...n}=e,r=Object.entries({...n,types:t?.join(`,`)}).filter(([,e])=>e!==void 0);return r.length===0?`/api/events`:`/api/events?${new URLSearchParams(r)}`}function ft({response:{status:e,headers:t},close:n}){let r=t.get(`content-type`)??`no content type`;if(r.startsWith(`text/event-stream`))return;n();let i=t.get(`x-request-id`);throw new R(`unexpected_answer`,`HTTP ${e}: expected an event stream, got ${r}.`,{status:e,requestId:i})}function pt(e,t){if(t===void 0)throw new R(`stream_gap`,"Events after `after` have been deleted. Set onGap to continue with the oldest stored event.");t(e)}const mt=()=>Array.from(crypto.getRandomValues(/* @__PURE__ */ new Uint8Array(16)),e=>e.toString(16).padStart(2,`0`)).join(``);function ht({response:e,receive:t,close:n}){let r=e.body?.getReader();async function i(e){try{let n=r&&await t(r.read());if(n?.value!==void 0)return e.enqueue(n.value)}catch(e){throw n(),e}n(),e.close()}return new Response(new ReadableStream({pull:i,cancel:n},{highWaterMark:0}),e)}async function gt(e,t){let n=``;for await(let t of it(e))n+=t;try{return t(n)}catch(t){let{status:r,headers:i}=e.response,a=i.get(`x-request-id`);throw new R(`unexpected_answer`,`HTTP ${r}: ${n.slice(0,200)}`,{status:r,requestId:a,cause:t})}}const _t=e=>new URLSearchParams(Object.entries(e).filter(([,e])=>e!==void 0));function vt(e){function t(t,{isRepeatable:n=!0,...r},i=e=>e){return lt(async()=>{let n=await Ye(e,{path:t,...r});return i(await gt(n,e.parseJson),n.response.headers)},{...e,isRepeatable:n,signal:r.signal})}async function*n(e,n,{signal:r}){let i=_t(n);for(;;){let n=await t(`${e}?${i}`,{signal:r});if(yield n,n.meta.nextCursor===null)return;i.set(`cursor`,n.meta.nextCursor)}}return{send:t,sendForStatus(t,n){return lt(async()=>{let{response:n,close:r}=await Ye(e,t);return r(),n},{...e,isRepeatable:n,signal:t.signal})},async sendForBytes(t){return ht(await lt(()=>Ye(e,t),{...e,isRepeatable:!0,signal:t.signal}))},fetchPages:n,async*list(e,t,r){for await(let{data:i}of n(e,t,r))yield*i}}}function yt(e){let{token:t,getToken:n}=e,r=Ve(e,n??(()=>t)),{send:i,sendForStatus:a,sendForBytes:o,fetchPages:s,list:c}=vt(r),l={dispatch:(e,{signal:t}={})=>i(`/api/v2/dispatch`,{method:`POST`,body:{...e,taskId:e.taskId??mt()},signal:t},(e,t)=>({...e,replayed:t.get(`idempotent-replayed`)===`true`})),async run(e,t){let{taskId:n}=await l.dispatch(e,t);return l.waitForTask(n,t)},checkDispatch:(e,{signal:t}={})=>i(`/api/v2/dispatch/check`,{method:`POST`,body:e,signal:t}),getTask:(e,{waitSeconds:t=0,signal:n}={})=>t<=0?i(z(e),{signal:n}):i(z(e),{headers:{prefer:`wait=${Math.ceil(t)}`},waitMs:t*1e3,signal:n}),getTaskRequest:(e,{signal:t}={})=>i(`${z(e)}/request`,{signal:t}),async deleteTask(e,{signal:t}={}){await a({path:z(e),method:`DELETE`,signal:t},!1)},async waitForTask(e,{signal:t}={}){let n=await l.getTask(e,{signal:t});if(Ot(n.state))return n;for await(let n of l.events(e,{signal:t,onGap:()=>{}}));return l.getTask(e,{signal:t})},listTasks:(e={},t={})=>c(`/api/v2/tasks`,e,t),cancel:(e,{signal:t}={})=>i(`${z(e)}/cancel`,{method:`POST`,signal:t}),events:(e={},t={})=>ut(e,t,r),...bt({send:i,sendForStatus:a}),...xt({send:i,list:c,fetchPages:s}),listAgents:(e={})=>c(`/api/v2/agents`,{},e),getStats:(e={},{signal:t}={})=>i(`/api/v2/stats?${_t(e)}`,{signal:t}),getServiceInfo:({signal:e}={})=>i(`/`,{headers:{accept:`application/json`},signal:e}),workspaces:{list:(e={})=>c(`/api/v2/workspaces`,{},e),async putFile(e,t,n,{ifMatch:r,mustBeNew:i=!1,signal:o}={}){let s={...r!==void 0&&{"if-match":r},...i&&{"if-none-match":`*`}},c=r===void 0&&!i,l=await a({path:Dt(e,t),method:`PUT`,headers:s,content:n,signal:o},c);return{isNew:l.status===201,etag:l.headers.get(`etag`)??``}},async deleteFile(e,t,{ifMatch:n,signal:r}={}){let i=n===void 0?{}:{"if-match":n};await a({path:Dt(e,t),method:`DELETE`,headers:i,signal:r},!1)}},files:{async list(e,t={}){let n=[],r=!1;for await(let{data:i,meta:a}of s(`${z(e)}/files`,{},t))n.push(...i),r||=a.truncated===!0;return{files:n,truncated:r}},async download(e,t,{signal:n}={}){return o({path:`${z(e)}/files/${Et(t)}`,signal:n})},diff:(e,{signal:t}={})=>i(`${z(e)}/diff`,{waitMs:3e4,signal:t})},approvals:{list:(e={},t={})=>c(`/api/v2/approvals`,e,t),decide:(e,t,n,{signal:r}={})=>i(`/api/v2/approvals/${encodeURIComponent(e)}`,{method:`POST`,body:{decision:t,reason:n},signal:r,isRepeatable:!1})},attention:St({send:i}),callbacks:Ct({send:i,list:c}),webhooks:wt({send:i,list:c})};return l}function bt({send:e,sendForStatus:t}){return{createTicket:({scopes:t}={},{signal:n}={})=>e(`/api/v2/events/ticket`,{method:`POST`,body:{scopes:t},signal:n}),createSignInLink:({signal:t}={})=>e(`/api/v2/sessions/link`,{method:`POST`,signal:t}),createSession:(t,{signal:n}={})=>e(`/api/v2/sessions`,{method:`POST`,body:{ticket:t},signal:n,isRepeatable:!1}),async deleteSession({signal:e}={}){await t({path:`/api/v2/sessions/current`,method:`DELETE`,signal:e},!1)},getIdentity:({signal:t}={})=>e(`/api/v2/me`,{signal:t})}}function xt({send:e,list:t,fetchPages:n}){return{listAdapters:(e={})=>t(`/api/v2/adapters`,{},e),checkAdapter:(t,{signal:n}={})=>e(`/api/v2/adapters/${encodeURIComponent(t)}/check`,{method:`POST`,waitMs:3e4,signal:n}),async listDomains(e,t={}){let r=[],i=null;for await(let{data:a,meta:o}of n(`/api/v2/domains`,{workspace:e},t))r.push(...a),i=o.settingsFault??null;return{domains:r,settingsFault:i}}}}function St({send:e}){return{list:(t={},{signal:n}={})=>e(`/api/v2/attention?${_t(t)}`,{signal:n}),async acknowledge(t,{signal:n}={}){let r=0;for(;;){let i=await e(`/api/v2/attention/acknowledge`,{method:`POST`,body:t,signal:n});if(r+=i.acknowledged,!i.hasMore)return r}}}}function Ct({send:e,list:t}){return{list:(e={},n={})=>t(`/api/v2/callbacks`,e,n),get:(t,{signal:n}={})=>e(`/api/v2/callbacks/${encodeURIComponent(t)}`,{signal:n}),redeliver:(t,{signal:n}={})=>e(`/api/v2/callbacks/${encodeURIComponent(t)}/redeliver`,{method:`POST`,signal:n,isRepeatable:!1}),redeliverAll:(t,{signal:n}={})=>Tt(e,`/api/v2/callbacks/redeliver`,{body:{origin:t},signal:n})}}function wt({send:e,list:t}){let n=e=>`/api/v2/webhooks/${encodeURIComponent(e)}`;return{list:(e={})=>t(`/api/v2/webhooks`,{},e),listDeliveries:(e,r={},i={})=>t(`${n(e)}/deliveries`,r,i),redeliver:(t,r,{signal:i}={})=>e(`${n(t)}/deliveries/${encodeURIComponent(r)}/redeliver`,{method:`POST`,signal:i,isRepeatable:!1}),redeliverAll:(t,{signal:r}={})=>Tt(e,`${n(t)}/redeliver`,{body:{},signal:r})}}async function Tt(e,t,{body:n,signal:r}){let i=0,a;do{let o=await e(t,{method:`POST`,body:{...n,cursor:a},signal:r,isRepeatable:!1});i+=o.redelivered,a=o.nextCursor??void 0}while(a!==void 0);return i}const Et=e=>e.split(`/`).map(encodeURIComponent).join(`/`),Dt=(e,t)=>`/api/v2/workspaces/${encodeURIComponent(e)}/files/${Et(t)}`,z=e=>`/api/v2/tasks/${encodeURIComponent(e)}`,Ot=e=>e!==`queued`&&e!==`running`,kt={adapter_offline:{cause:`The adapter went offline while the task waited, or no node can run the task any more.`,advice:`Read the preflight of the adapter, which names what is missing. Then dispatch the task again.`,remedies:[`open_adapter`,`run_again`]},adapter_error:{cause:`The adapter failed for a reason that no other code describes.`,advice:"Read `error` and the log lines of the task. Check the adapter, then dispatch the task again.",remedies:[`open_adapter`,`run_again`]},authentication_required:{cause:`The program is not logged in, or the key is wrong.`,advice:`Set the key in the environment of Bridge, or log in with the program. Then dispatch the task again.`,remedies:[`open_adapter`,`run_again`]},user_action_required:{cause:`The runtime needs a person, for example to accept terms or to choose an account.`,advice:`Start the program once by hand as the user of Bridge, do what it asks for, and dispatch the task again.`,remedies:[`open_adapter`,`run_again`]},rate_limited:{cause:`The vendor rejects requests for now, or a usage limit is reached.`,advice:"Dispatch the task later, or lower `BRIDGE_MAX_CONCURRENT` for this adapter.",remedies:[`run_again`]},model_error:{cause:`The model failed, or it answered nothing.`,advice:"Dispatch the task again. If it fails again, read `error`, and try another `model`.",remedies:[`run_again`,`change_request`]},timeout:{cause:"The task ran longer than `timeoutSeconds`, 600 by default.",advice:"Send a larger `timeoutSeconds`, up to 86400.",remedies:[`run_longer`,`change_request`]},idle_timeout:{cause:"The runtime emitted no event for `BRIDGE_IDLE_SECONDS`, 300 by default, and no tool call was open.",advice:`Dispatch the task again. If the model is slow, raise the setting, or set it to 0 to disable the limit.`,remedies:[`run_again`]},cancelled:{cause:`A client or a person canceled the task, or its parent task ended.`,advice:`Nothing. Dispatch the task again if it is still needed.`,remedies:[`run_again`,`change_request`]},output_limit:{cause:`The runtime wrote more than Bridge stores.`,advice:`Ask for a file in the workspace instead of a long answer.`,remedies:[`change_request`]},output_invalid:{cause:"The answer does not match the output strategy, such as `outputSchema`.",advice:"Read the text in `output`. Simplify the schema, or ask for the fields in the message.",remedies:[`change_request`,`run_again`]},runtime_crashed:{cause:`The program ended without a result.`,advice:"Read `error`, which contains the end of its stderr. Run the program by hand in the workspace.",remedies:[`run_again`,`open_adapter`]},spawn_failed:{cause:`Bridge could not start the program: it is missing, not executable, or the machine has no room for it.`,advice:"Read `error`. Correct the path of the program or its permissions, or lower `BRIDGE_MAX_CONCURRENT`.",remedies:[`open_adapter`,`run_again`]},bridge_restarted:{cause:`Bridge ended while the task ran, or its node lost the PostgreSQL database for most of its lease.`,advice:'Check what the task has already done, and dispatch it again. With `"onInterrupt": "retry"`, Bridge does this once.',remedies:[`run_again`,`change_request`]},bridge_shutdown:{cause:"Bridge shut down, and the task did not end within `BRIDGE_DRAIN_SECONDS`. A task that waits for a person ends so, too.",advice:'Dispatch the task again. Raise the setting, or send `"onInterrupt": "retry"`.',remedies:[`run_again`]},max_turns:{cause:`The runtime reached its own limit of turns.`,advice:"Divide the task, or raise the limit in the settings of the runtime. A `resumeToken` continues the session.",remedies:[`change_request`]},budget_exceeded:{cause:`The runtime reached its own budget.`,advice:`Raise the budget in the settings of the runtime, or divide the task.`,remedies:[`change_request`]}},At=e=>Object.hasOwn(kt,e)?kt[e]:null,jt=5e3;function B(e,t,{intervalMs:n=()=>jt,onValue:r}={}){let i={value:void 0,error:null},a=null,o,s=!1,c=!1;async function l(){if(a===null)return;if(s){c=!0;return}let{signal:l}=a;clearTimeout(o),s=!0,c=!1;try{let e=await t(l);if(l.aborted)return;i.value=e,i.error=null,r?.(e)}catch(e){if(l.aborted)return;i.error=e instanceof I?e:new I(0,`unexpected`,String(e))}finally{s=!1,l.aborted||(e.requestUpdate(),u(c?0:n()))}}function u(e){clearTimeout(o),document.hidden||(o=setTimeout(()=>void l(),e))}let d=()=>{document.hidden||u(0)};return e.addController({hostConnected(){a=new AbortController,s=!1,document.addEventListener(`visibilitychange`,d),e.updateComplete.then(()=>l())},hostDisconnected(){a?.abort(),a=null,clearTimeout(o),document.removeEventListener(`visibilitychange`,d)}}),{get value(){return i.value},get error(){return i.error},refresh:()=>void l()}}function Mt(e){let t=(typeof e==`object`&&e&&!Array.isArray(e)?Object.entries(e):[[``,e]]).map(([e,t])=>[l(String(e)),l(m(t))]);if(t.reduce((e,[t,n])=>e+t.length+n.length,0)<=240&&t.reduce((e,[,t])=>e+1+t.split(`
`).length,0)<=7)return null;let n=t.length>3?[...t.slice(0,2),...t.slice(-1)]:t,r=Math.floor(240/(2*n.length)),i=n.map(([e,t])=>Nt(e,t,r));return t.length>3&&i.splice(2,0,`… ${t.length-3} more fields …`),i.join(`
`)}function Nt(e,t,n){let r=e===``?``:`${Pt(e,n)}: `,i=t.split(`
`).filter(e=>e.trim()!==``),[a=``,o=``]=[i[0],i.at(-1)];if(i.length>1){let e=i.length>2?[`… ${i.length-2} more lines …`]:[];return[`${r}${Pt(a,n)}`,...e,Ft(o,n)].join(`
`)}return a.length<=2*n?`${r}${a}`:[`${r}${Pt(a,n)}`,Ft(a,n)].join(`
`)}const Pt=(e,t)=>e.length>t?`${e.slice(0,t)}…`:e,Ft=(e,t)=>e.length>t?`…${e.slice(-t)}`:e;function It(e,t){let n=document.createElement(`a`);n.href=URL.createObjectURL(e),n.download=t,n.click(),URL.revokeObjectURL(n.href)}var Lt=class extends v{static properties={value:{attribute:!1},showsEnd:{attribute:!1}};#e=``;#t=2e4;willUpdate(e){e.has(`value`)&&(this.#e=m(this.value))}render(){let e=this.#e.length-this.#t,t=this.showsEnd?this.#e.slice(-this.#t):this.#e.slice(0,this.#t),n=_`<pre tabindex="0">${l(t)}</pre>`;if(e<=0)return n;let r=_`<p class="more">
      <button @click=${this.#n}>Show more (${b(e)} left)</button>
      <button @click=${this.#r}>Save the whole text</button>
    </p>`;return this.showsEnd?_`${r}${n}`:_`${n}${r}`}#n(){this.#t+=5e4,this.requestUpdate()}#r(){It(new Blob([this.#e],{type:`text/plain;charset=utf-8`}),`text.txt`)}};customElements.define(`bridge-long-text`,Lt);const V=(e,{showsEnd:t=!1}={})=>_`<bridge-long-text .value=${e} .showsEnd=${t}></bridge-long-text>`;function H(e){if(typeof e!=`object`||!e||Array.isArray(e))return V(e);let t=Object.entries(e);return t.length===0?_`<p class="hint">No input.</p>`:_`<dl class="input-fields">
    ${t.map(([e,t])=>_`<div><dt>${l(e)}</dt><dd>${V(t)}</dd></div>`)}
  </dl>`}const Rt=Array.from({length:51},(e,t)=>t/50);var zt=class extends v{static properties={approvalId:{attribute:!1},input:{attribute:!1},isOver:{attribute:!1},expiresAt:{attribute:!1},context:{attribute:!1}};#e=null;#t=!1;#n=null;#r=new IntersectionObserver(()=>this.#d(),{threshold:Rt});#i=null;#a;#o=null;#s=``;#c=null;disconnectedCallback(){super.disconnectedCallback(),this.#r.disconnect(),this.#n=null,clearTimeout(this.#a)}press(e){this.#i===e&&(e===`reject`||this.#d())?(this.forget(),this.#m(e)):(this.forget(),this.#l()||(this.#i=e,this.#a=setTimeout(()=>this.forget(),5e3),this.#f(),this.requestUpdate()))}forget(){let e=this.#i!==null;return clearTimeout(this.#a),this.#i=null,e&&this.requestUpdate(),e}#l(){return this.#o!==null||this.#s!==``||this.isOver===!0||!this.#u()}#u(){return this.context.identity.scopes.includes(`approve`)}#d(){let{top:e,bottom:t,height:n}=this.#n?.getBoundingClientRect()??new DOMRect,r=n+40<=innerHeight,i=n>0&&(e>=-1||!r)&&t>0&&t<=innerHeight+1;return i!==this.#t&&(this.#t=i,this.requestUpdate()),i}#f(){this.#n?.scrollIntoView({block:`nearest`})}#p(){this.#t&&this.#d()?this.#m(`approve`):this.#f()}async#m(e){if(this.#l())return;this.#o=e,this.#c=null,this.requestUpdate();let{api:t,attention:n}=this.context,r=this.querySelector(`input`)?.value.trim()??``,i=`/api/v2/approvals/${encodeURIComponent(this.approvalId)}`;try{let n={decision:e,...r!==``&&{reason:r}};this.#s=Bt(await t.call(i,{method:`POST`,body:n}))}catch(e){e instanceof I&&e.code===`already_decided`?this.#s=e.message:this.#c=e instanceof I?e:new I(0,`unexpected`,String(e))}this.#o=null,n.refresh(),this.requestUpdate()}willUpdate(e){e.has(`input`)&&(this.#e=Mt(this.input))}updated(){let e=this.querySelector(`.shown-input`);e!==this.#n&&(this.#r.disconnect(),this.#n=e,e!==null&&this.#r.observe(e))}render(){if(this.#s!==``)return _`${H(this.input)}<p class="note info" role="status">${l(this.#s)}</p>`;if(this.isOver===!0&&this.#o===null)return _`${H(this.input)}
        <p class="hint" role="status">
          ${me(this,F())?`The time for a decision is over, so Bridge rejects the call.`:`No longer waiting. The timeline of the task shows the decision.`}
        </p>`;if(!this.#u())return _`${H(this.input)}<p class="hint">Your token cannot decide approvals.</p>`;let e=this.#o!==null;return _`
      ${this.#e===null?S:H(this.input)}
      <div class="shown-input">
        ${this.#e===null?H(this.input):_`<p class="hint">First and last line</p><pre>${this.#e}</pre>`}
      </div>
      <div class="decision">
        <input aria-label="Reason" placeholder="Reason (optional)" maxlength="2000" autocomplete="off" />
        <button class="primary" ?disabled=${e} @click=${this.#p}>${this.#t?`Approve`:`Show the input`}</button>
        <button class="danger" ?disabled=${e} @click=${()=>this.#m(`reject`)}>Reject</button>
        <span role="status">${e?`Sending …`:this.#h()}</span>
      </div>
      ${D(this.#c)}
    `}#h(){return this.#i===null?S:_`Press <kbd>${this.#i===`approve`?`a`:`r`}</kbd> again to ${this.#i}, <kbd>Esc</kbd> to keep it waiting.`}};customElements.define(`bridge-decision`,zt);const Bt=({state:e,decidedBy:t,reason:n})=>`${e} by ${t??`?`}${n===null||n===``?``:`: ${n}`}`;function Vt(e,t){if(e===null)return _`<span class="countdown">waits without a time limit</span>`;let n=Date.parse(e)-t;return me({expiresAt:e},t)?_`<span class="countdown">expired</span>`:_`<span class="countdown">rejected automatically in ${h(Math.ceil(n/1e3)*1e3)}</span>`}
/**
* @license
* Copyright 2018 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/
const Ht={},Ut=de(class extends u{constructor(){super(...arguments),this.ot=Ht}render(e,t){return t()}update(e,[t,n]){if(Array.isArray(t)){if(Array.isArray(this.ot)&&this.ot.length===t.length&&t.every((e,t)=>e===this.ot[t]))return w}else if(this.ot===t)return w;return this.ot=Array.isArray(t)?Array.from(t):t,this.render(t,n)}}),U=e=>Ut([e],()=>ye(e,{class:`icon`,"aria-hidden":`true`})),Wt=(e,t,n)=>_`<div class="empty-state">${U(e)}<p>${t}</p><p class="actions">${n}</p></div>`,Gt=`M2 22h28M5 22a11 11 0 0 1 22 0M10 22v-8m6 8V11m6 11v-8`,Kt=_`<svg class="icon" viewBox="0 0 32 32" fill="none" stroke="currentColor" stroke-width="3" aria-hidden="true">
  <path d=${Gt} />
</svg>`;function qt(){let e=null,t=null;return{update(n,{approvals:r,hasMoreApprovals:i}){let a=r.length;document.title=a===0?`${n} · Bridge`:`(${a}${i?`+`:``}) ${n} · Bridge`;let o=Zt(a);o!==t&&document.querySelector(`link[rel=icon]`)?.setAttribute(`href`,o),t=o;let s=r.filter(({approvalId:t})=>e?.has(t)===!1);e=new Set(r.map(({approvalId:e})=>e)),s.length>0&&Jt()&&Xt(s)},reset(){e=null}}}const Jt=()=>`Notification`in globalThis&&Notification.permission===`granted`,Yt=()=>`Notification`in globalThis&&isSecureContext&&Notification.permission==="default";function Xt(e){let[t]=e,n=e.length===1?`${t?.agentId} wants to call ${t?.toolName}.`:`${e.length} tool calls wait.`,r=new Notification(`Bridge: approval needed`,{body:n,tag:`bridge-approval`});r.onclick=()=>{focus(),r.close()}}function Zt(e){return`data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="${Gt}" fill="none" stroke="#2563eb" stroke-width="2.5"/>${e===0?``:`<circle cx="24" cy="8" r="8" fill="#c2410c"/>`}</svg>`)}`}const Qt=[`CRITICAL`,`HIGH`,`MEDIUM`,`LOW`,`INFO`];function $t(e){let t=Qt.indexOf(e??``);return t===-1?Qt.length:t}const en=[`multi_source_confirmed`,`outputs`,`single_source_findings`,`integration_findings`,`disputed_findings`,`disputed_outputs`,`withdrawn_findings`,`withdrawn_outputs`];function tn(e,t){let n=W(e.result?.outputs),r=t.flatMap(nn);if(r.length===0&&!(`verdict`in n&&`roles`in n))return null;let i=an(n,r),a=i.length>0?i:r;return{verdict:K(n.verdict),status:K(n.status),isPartial:n.partial_coverage===!0,skipped:G(n.skip_reasons).map(({bridge:e,reason:t})=>({bridge:String(e),reason:String(t)})),findings:en.flatMap(e=>G(n[e]).map(t=>sn(t,e))).toSorted((e,t)=>$t(e.severity)-$t(t.severity)),rounds:[...new Set(a.map(({round:e})=>e))].toSorted((e,t)=>e-t),roles:on(a)}}function nn(e){let t=rn(e);return t===null?[]:[{provider:e.provider,...t,task:e,answers:[]}]}function rn(e){let{role:t,domain:n,round:r}=W(W(e.metadata).council);return typeof t==`string`&&typeof r==`number`?{role:t,domain:K(n)??``,round:r}:null}function an(e,t){let n=(e,n)=>G(e).flatMap(({role:e,domain:r,round:i,answered:a,reason:o})=>{if(typeof e!=`string`||typeof i!=`number`)return[];let s=t=>t.role===e&&t.round===i&&t.domain===r,c=n===null?t.findLast(s):t.find(e=>e.provider===n&&s(e)),l=[{answered:a===!0,reason:K(o)??``}];return[{provider:n,role:e,domain:K(r)??``,round:i,task:c?.task,answers:l}]});return[...G(e.bridge_reports).flatMap(({bridge:e,roles:t})=>n(t,K(e))),...n(e.roles,K(e.bridge))]}function on(e){let t=/* @__PURE__ */ new Map;for(let{provider:n,role:r,domain:i,round:a,task:o,answers:s}of e){let e=`${r} (${[n??`all runtimes`,i].filter(e=>e!==``&&e!==r).join(` · `)})`,c=t.get(e)??/* @__PURE__ */ new Map;c.set(a,{task:o,answers:[...c.get(a)?.answers??[],...s]}),t.set(e,c)}return[...t].map(([e,t])=>({name:e,turns:t}))}function sn(e,t){let n=`output`in e?W(e.output):e,r=G(n.positions).map(({bridge:e,id:t})=>`${String(e)} ${String(t)}`),i=Array.isArray(n.confirmed_by)?`confirmed by ${n.confirmed_by.join(`, `)}`:``,a=K(e.unresolved_challenge);return{id:K(n.id)??``,severity:K(n.severity),status:t.startsWith(`withdrawn`)?`withdrawn`:t.startsWith(`disputed`)?`disputed`:K(n.status)??``,title:K(n.title)??``,description:K(n.description)??``,evidence:K(n.evidence),action:K(n.action),raisedBy:r.length>0?r.join(`, `):K(n.agent)??K(n.source_bridge)??`the council`,note:a===null?i:`challenged: ${a}`}}const W=e=>typeof e==`object`&&e&&!Array.isArray(e)?e:{},G=e=>Array.isArray(e)?e.map(W):[],K=e=>typeof e==`string`?e:null,cn={all:()=>!0,errors:e=>e.kind===`tool`&&e.isError||e.kind===`child`&&e.task.state===`failed`,tools:e=>e.kind===`tool`,text:e=>e.kind===`text`};function ln(e,t){let n=[],r=t.map(e=>({task:e,at:Date.parse(e.startedAt??e.createdAt)})).toSorted((e,t)=>e.at-t.at),i=null,a=e=>{for(;r[0]!==void 0&&r[0].at<e;)n.push({turn:i,entry:{kind:`child`,task:r[0].task}}),r.shift()};for(let t of e)for(let e of t.entries){r.length>0&&a(q(e)),i=t;let o=n.at(-1);e.kind!==`progress`||!Cn(e.data)?n.push({turn:i,entry:e}):o?.turn===i&&o.entry.kind===`group`?o.entry.entries.push(e):n.push({turn:i,entry:{kind:`group`,entries:[e]}})}return a(1/0),n}function q(e){return e.kind===`child`?Date.parse(e.task.startedAt??e.task.createdAt):e.kind===`group`?Date.parse(e.entries[0].at):Date.parse(e.kind===`tool`?e.invokedAt:e.at)}function un(e,t){if(e.kind!==`tool`&&e.kind!==`child`||e.kind===`child`&&e.task.startedAt===null)return null;let n=e.kind===`tool`?e.completedAt:e.task.finishedAt;return n===null?t===null?0:t-q(e):Date.parse(n)-q(e)}function dn(e,t){return e.flatMap(e=>{let n=un(e.entry,t);return n===null?[]:[{row:e,duration:n}]}).toSorted((e,t)=>t.duration-e.duration).map(({row:e})=>e)}const fn=({entry:e},t)=>e===t||e.kind===`group`&&e.entries.includes(t);function pn(e){return e.kind===`child`?e.task.finishedAt===null:e.kind===`tool`&&(e.completedAt===null||e.approval!==null&&e.approval.decision===null)}const mn=1.25,hn=1e3;function gn(e,{isRunning:t}){if(!t)return Math.max(1,e);let n=Math.max(0,Math.ceil(Math.log(Math.max(1,e/hn))/Math.log(mn)));return hn*mn**n}const _n=[.1,.2,.5,1,2,5,10,15,30,60,120,300,600,900,1800,3600,7200,14400,28800];function vn(e){let t=(_n.find(t=>e/(1e3*t)<6)??86400)*1e3;return Array.from({length:Math.min(6,Math.ceil(e/t))},(e,n)=>n*t)}const yn=[`command`,`cmd`],bn=[`description`,`reason`,`thought`];function xn(e){if(typeof e!=`object`||!e||Array.isArray(e))return P(J(e)??m(e));let t=Object.keys(e),n=[...yn,...t.filter(e=>!bn.includes(e)),...t];for(let t of n){let n=Object.hasOwn(e,t)?J(e[t]):null;if(n!==null&&n!==``)return P(n)}return t.length===0?``:P(m(e))}function J(e){if(typeof e==`string`)return e;if(typeof e==`number`||typeof e==`boolean`)return String(e);if(!Array.isArray(e))return null;let t=e.map(J);return t.includes(null)?null:t.join(` `)}function Sn(e){let t=Cn(e)?Tn(e):null;if(t!==null)return P(t,300);let{done:n,of:r,...i}=e,a=Object.entries(i).map(([e,t])=>`${e} ${J(t)??JSON.stringify(t)}`),[o]=Object.keys(i).length===1?Object.values(i).map(J):[],s=typeof n==`number`&&typeof r==`number`?[`${n} of ${r}`]:[];return P([...o==null?a:[o],...s].join(`, `),300)}const Cn=({phase:e,round:t})=>typeof e==`string`&&typeof t==`number`;function wn({entries:e}){let t=/* @__PURE__ */ new Map;for(let{data:n}of e)if(n.phase!==`finding`){let e=typeof n.done==`number`&&typeof n.of==`number`?`${n.done} of ${n.of}`:`a role`;t.set(`Round ${n.round}, ${n.phase}`,`${e} answered`)}let n=e.filter(({data:e})=>e.phase===`finding`).length,r=n===0?[]:[`${n} finding${n===1?``:`s`}`];return P([...[...t].map(([e,t])=>`${e}: ${t}`),...r].join(`, `),300)}function Tn({phase:e,round:t,role:n,domain:r,id:i,severity:a,title:o,done:s,of:c}){return e===`finding`?`${J(n)??J(r)??`Council`}: finding ${J(i)??``} ${J(a)??``}: ${J(o)??``}`:typeof n==`string`?`Round ${t}, ${e}: ${n} answered${typeof s==`number`&&typeof c==`number`?`, ${s} of ${c}`:``}`:null}function En(e){let t=rn(e),n=Dn(e);if(t===null)return{name:e.title??e.taskId,detail:[e.agentId,e.provider,...n].join(` · `)};let r=t.domain===``||t.domain===t.role?[]:[t.domain];return{name:t.role,detail:[e.provider,...r,`round ${t.round}`,...n].join(` · `)}}function Dn({costUsd:e,usage:t}){let n=(t?.inputTokens??0)+(t?.outputTokens??0);return[...e==null?[]:[a(e)],...n===0?[]:[`${i(n)} tokens`]]}var On=class extends he{#e=/* @__PURE__ */ new Map;#t=null;#n;#r=[];#i=B(this,async e=>(await this.context.api.list(`/api/v2/approvals`,{limit:100},{signal:e})).data);connectedCallback(){super.connectedCallback();let{attention:e,feed:t}=this.context;this.#a(),this.#n=setInterval(()=>this.requestUpdate(),1e3),this.#r=[e.subscribe(()=>{this.#a(),this.requestUpdate()}),t.subscribe(e=>{(e?.some(({approvalId:e})=>e!==null)??!0)&&this.#i.refresh()})]}disconnectedCallback(){super.disconnectedCallback(),clearInterval(this.#n);for(let e of this.#r)e()}#a(){let{approvals:e,isLoaded:t}=this.context.attention.state;for(let t of e)this.#e.set(t.approvalId,t);if(!t)return;let n=new Set(e.map(({approvalId:e})=>e)),r=[...this.#e.keys()].filter(e=>!n.has(e)&&e!==this.#t);for(let e of r.slice(0,-10))this.#e.delete(e)}onKey(e,{repeat:t}){let n=[...this.#e.keys()];if((e===`j`||e===`k`)&&n.length>0){let t=this.#t===null?-1:n.indexOf(this.#t);return this.#t=n[Math.min(n.length-1,Math.max(0,t+(e===`j`?1:-1)))]??null,this.#o(),this.requestUpdate(),this.updateComplete.then(()=>this.querySelector(`.approval[aria-current]`)?.focus()),!0}if(e===`Escape`)return this.#o();if(e!==`a`&&e!==`r`)return!1;if(t)return!0;let r=this.#t===null?null:`[data-approval="${CSS.escape(this.#t)}"] bridge-decision`,i=r===null?null:this.querySelector(r);return i?.press(e===`a`?`approve`:`reject`),i!==null}#o(){return[...this.querySelectorAll(`bridge-decision`)].filter(e=>e.forget()).length>0}render(){let e=F(),{state:t}=this.context.attention,n=(this.#i.value??[]).filter(({approvalId:e,state:t})=>t!==`pending`&&!this.#e.has(e));return _`
      <div class="page-head">
        <h1>Approvals <span class="hint">${p(t.approvals.length,t.hasMoreApprovals)} waiting</span></h1>
        ${Yt()?_`<button @click=${this.#l}>Notify me in this browser</button>`:S}
      </div>
      ${D(this.#i.error)} ${this.#e.size===0&&t.isLoaded?kn():S}
      <ol class="approvals">
        ${L(this.#e.values(),({approvalId:e})=>e,t=>this.#s(t,e))}
      </ol>
      ${t.hasMoreApprovals?_`<p class="hint">These are the oldest. Others appear when these are decided.</p>`:S}
      ${n.length===0?S:_`<h2>Decided</h2><ul class="rows decided-calls">${n.map(t=>An(t,e))}</ul>`}
    `}#s(e,t){let{approvalId:n,toolName:r,agentId:i,provider:a,taskId:o,title:s,input:c,inputTruncated:u,cwd:d,createdAt:f,expiresAt:p}=e,m=this.context.attention.state.approvals.some(e=>e.approvalId===n),h=this.#i.value?.find(e=>e.approvalId===n&&e.state!==`pending`);return _`<li
      class="approval ${m?``:`over`}" tabindex="-1" aria-current=${this.#t===n?`true`:S} data-approval=${n}
      @focusin=${()=>this.#c(n)}
    >
      <h2><code>${l(r)}</code></h2>
      <p class="detail">
        ${i} · ${a} · <a href=${E(o)}>${s===null?S:_`${l(s)} · `}${o}</a> · asked ${re(f,t)}
        ${m?_`· ${Vt(p,t)}`:S}
      </p>
      ${d==null?S:_`<p class="detail">Directory: <code>${l(d)}</code></p>`}
      ${u?_`<p class="note warning">This is only the beginning of the input. It is longer than Bridge stores.</p>`:S}
      ${h===void 0||m?_`<bridge-decision .approvalId=${n} .input=${c} .isOver=${!m} .expiresAt=${p} .context=${this.context}></bridge-decision>`:_`${H(c)}<p role="status">${jn(h)} <span class="detail">${Mn(h)}</span></p>`}
    </li>`}#c(e){this.#t=e,this.requestUpdate()}async#l(){await Notification.requestPermission(),this.requestUpdate()}};const kn=()=>Wt(Ee,`No tool call waits for a decision.`,_`<span
      >An agent asks before its tool calls if its task is dispatched with <code>"approvals": "ask"</code>, as
      <code>docs/approvals.md</code> describes. <a href=${M(`new`)}>Dispatch such a task</a></span
    >`);function An(e,t){let n=l(xn(e.input));return _`<li>
    ${jn(e)}
    <span class="call"><strong>${l(e.toolName)}</strong> <code title=${n}>${n}</code></span>
    <span class="detail">${Mn(e)} · <a href=${E(e.taskId)}>${l(e.title??e.taskId)}</a></span>
    ${N(e.createdAt,t)}
  </li>`}const jn=({state:e})=>A(e,e===`approved`?`✓`:`✕`,e),Mn=({decidedBy:e,reason:t})=>`by ${e??`?`}${t===null||t===``?``:`: ${l(t)}`}`;customElements.define(`bridge-approvals`,On);async function Nn(e,t,n,{pages:r,pageLength:i,signal:a}){let o=[],s;for(let c=0;c<r;c+=1){let r=await e.list(t,{...n,limit:i,cursor:s},{signal:a});if(o.push(...r.data),r.meta.nextCursor===null)return{data:o,meta:r.meta};s=r.meta.nextCursor}return{data:o,meta:{nextCursor:s??null}}}async function Pn(e,{kind:t,receiver:n}){let r=t===`callback`?`/api/v2/callbacks/redeliver`:`/api/v2/webhooks/${encodeURIComponent(n)}/redeliver`,i=0,a=null;do{let o={...t===`callback`&&{origin:n},...a!==null&&{cursor:a}},s=await e.call(r,{method:`POST`,body:o});i+=s.redelivered,a=s.nextCursor}while(a!==null);return i}async function Fn(e,{kind:t,receiver:n},r){let i=t===`callback`?`/api/v2/callbacks`:`/api/v2/webhooks/${encodeURIComponent(n)}/deliveries`,a=async a=>{let{data:o}=await Nn(e,i,{state:a},{pages:10,pageLength:200,signal:r});return t===`delivery`?o.length:o.filter(({url:e=``})=>URL.canParse(e)&&new URL(e).origin===n).length},[o,s]=await Promise.all([a(`pending`),a(`dead`)]);return{pending:o,dead:s}}function In(e,t){let n=e===`callback`?`callback`:`deliver`;return`${t} ${e===`callback`?`${n}${t===1?``:`s`}`:`${n}${t===1?`y`:`ies`}`}`}function Ln(e){let{target:t,ctrlKey:n,metaKey:r,shiftKey:i}=e;t instanceof Element&&t.closest(`a, button, input, label, select, summary`)===null&&getSelection()?.isCollapsed!==!1&&(t.closest(`li, [role=row]`)?.querySelector(`a[href]`))?.dispatchEvent(new MouseEvent(`click`,{bubbles:!0,cancelable:!0,composed:!0,ctrlKey:n,metaKey:r,shiftKey:i}))}var Rn=class extends v{static properties={context:{attribute:!1}};#e=``;#t=!1;#n=null;disconnectedCallback(){super.disconnectedCallback(),this.#n?.abort()}async start(e){this.#n?.abort(),this.#n=new AbortController;let{signal:t}=this.#n,{api:n,attention:r}=this.context;this.#r(`Redelivery to ${e.receiver} …`);try{let i=await Pn(n,e);r.refresh();for(let r=!0;r&&!t.aborted;){let{pending:a,dead:o}=await Fn(n,e,t);r=a>0,this.#r(zn(e,i,{pending:Math.min(a,i),dead:Math.min(o,i)})),r&&await new Promise(e=>setTimeout(e,2e3))}r.refresh()}catch(e){t.aborted||this.#r(e instanceof I?e.message:String(e),!0)}}#r(e,t=!1){this.#e=e,this.#t=t,this.requestUpdate()}#i(){this.#n?.abort(),this.#r(``)}render(){return this.#e===``?S:_`<div class="note ${this.#t?`error`:`info`} closable">
      <span role=${this.#t?`alert`:`status`}>${l(this.#e)}</span>
      <button class="plain" aria-label="Close the message" @click=${()=>this.#i()}>${U(ze)}</button>
    </div>`}};function zn({kind:e,receiver:t},n,{pending:r,dead:i}){let a=Math.max(0,n-r-i),o=[...a>0?[`${a} delivered`]:[],...i>0?[`${i} still failing`]:[],...r>0?[`${r} pending`]:[]];return`Redelivery of ${In(e,n)} to ${t}: ${o.join(`, `)||`nothing was dead`}.`}customElements.define(`bridge-redelivery`,Rn);const Bn=6e4;var Vn=class extends v{static properties={context:{attribute:!1},now:{attribute:!1}};#e=null;#t=null;#n=null;#r=()=>{};connectedCallback(){super.connectedCallback(),this.#r=this.context.attention.subscribe(()=>this.requestUpdate())}disconnectedCallback(){super.disconnectedCallback(),this.#r()}async#i(e){await this.#o(async()=>{await this.context.api.call(`/api/v2/attention/acknowledge`,{method:`POST`,body:e}),this.context.attention.refresh(),this.#e!==null&&await this.#a()})}async#a(){this.#e=await this.context.api.call(`/api/v2/attention?acknowledged=true&limit=50`)}async#o(e){this.#t=null,await e().catch(e=>{this.#t=e instanceof I?e:new I(0,`unexpected`,String(e))}),this.requestUpdate()}#s(){this.#e===null?this.#o(()=>this.#a()):(this.#e=null,this.requestUpdate())}render(){let{approvals:e,faults:t,faultsAt:n,isLoaded:r}=this.context.attention.state,{now:i}=this,a=new Date(n).toISOString(),o=[...Gn(t),...Kn(t,a),...qn(t)],s=t.counts.failure-o.filter(({choice:e})=>e.kind===`failure`).length;return _`
      ${D(this.#t)} <bridge-redelivery .context=${this.context}></bridge-redelivery>
      ${r&&e.length+o.length===0?_`<p class="empty">Nothing waits for a person.</p>`:S}
      <ul class="rows board" @click=${Ln}>
        ${L(e.slice(0,5),({approvalId:e})=>e,e=>Hn(e,i))}
        ${L(o,({choice:e})=>JSON.stringify({...e,until:null}),e=>this.#p(e,i))}
      </ul>
      <p class="actions">
        ${s>0?_`<a href=${M(`tasks?state=failed`)}>${s} more failed ${s===1?`task`:`tasks`}</a>`:S}
        ${s>0&&this.#c()?this.#l(`Acknowledge all failed tasks`,{kind:`failure`,all:!0,until:a}):S}
        ${r?_`<button aria-expanded=${this.#e!==null} @click=${this.#s}>${U(this.#e===null?we:Ce)} Acknowledged faults</button>`:S}
      </p>
      ${this.#e===null?S:Jn(this.#e,i)}
    `}#c(){return this.context.identity.scopes.includes(`dispatch`)}#l(e,t){return _`<button @click=${()=>this.#i(t)}>${e}</button>`}#u(e){this.#n=e,this.requestUpdate()}#d(e){this.#u(null),this.querySelector(`bridge-redelivery`)?.start(e)}#f(e){let t=`${e.kind} ${e.receiver}`;return this.#n===t?_`<span role="status">Redeliver ${In(e.kind,e.count)}?</span>
      <button class="small" @click=${()=>this.#d(e)}>Yes, redeliver</button>
      <button class="small" @click=${()=>this.#u(null)}>No</button>`:_`<button class="small" aria-label="Redeliver all dead to ${l(e.receiver)}" @click=${()=>this.#u(t)}>Redeliver all</button>`}#p({sign:e,name:t,link:n,detail:r,at:i,choice:a,dead:o},s){return _`<li>
      ${e}
      <div class="what"><a href=${n}>${l(t)}</a> <span class="detail">${l(r)}</span></div>
      <div class="do">
        ${o!==void 0&&this.#c()?this.#f(o):S}
        ${this.#c()?_`<button class="small" aria-label="Acknowledge ${l(t)}" @click=${()=>this.#i(a)}>Acknowledge</button>`:S}
      </div>
      ${N(i,s)}
    </li>`}};function Hn({agentId:e,toolName:t,input:n,createdAt:r,expiresAt:i},a){return _`<li>
    ${j(`approval`)}
    <div class="what">
      <a href=${M(`approvals`)}>${e} wants to call <code>${l(t)}</code></a>
      <code class="detail">${l(xn(n))}</code>
    </div>
    <div class="do">${Un(i,a)}</div>
    ${N(r,a)}
  </li>`}function Un(e,t){if(e===null)return S;let n=Math.max(0,Math.ceil((Date.parse(e)-t)/1e3)*1e3),r=n<Bn?`${n/1e3} s`:h(n);return _`<span class="deadline ${n<Bn?`urgent`:``}">rejected in ${r}</span>`}const Wn=e=>A(`failed`,`✕`,e),Gn=({data:e})=>e.filter(({kind:e})=>e===`failure`).map(({id:e,title:t,agentId:n,provider:r,detail:i,at:a})=>({sign:j(`failed`),name:t??e,link:E(e),at:a,detail:[...t===null?[]:[e],n,r,i].filter(e=>e!==null).join(` · `),choice:{kind:`failure`,id:e}})),Kn=({data:e,receivers:t},n)=>t.map(({kind:t,receiver:r,count:i})=>{let a=e.find(e=>e.kind===t&&e.receiver===r);return{sign:Wn(In(t,i).replace(` `,` dead `)),dead:{kind:t,receiver:r,count:i},name:r,link:M(t===`callback`?`callbacks`:`webhooks?name=${encodeURIComponent(r)}`),detail:[a?.detail,i===1?a?.taskId:null].filter(e=>e!=null).join(` · `),at:a?.at??null,choice:{kind:t,receiver:r,until:n}}}),qn=({data:e})=>e.filter(({kind:e})=>e===`adapter`).map(({id:e,detail:t})=>({sign:ie(`offline`),name:e,link:M(`adapters#${encodeURIComponent(e)}`),detail:t??``,at:null,choice:{kind:`adapter`,id:e}}));function Jn({data:e},t){return e.length===0?_`<p class="empty">No fault that still exists was acknowledged.</p>`:_`<ul class="rows board" aria-label="Acknowledged faults">
    ${e.map(e=>_`<li>
        ${A(``,`·`,Yn[e.kind])}
        <div class="what">
          <span>${l(e.title??e.receiver??e.id)}</span> <span class="detail">${l(e.detail??``)}</span>
        </div>
        <span class="detail do">${Xn(e,t)}</span>
        ${N(e.at,t)}
      </li>`)}
  </ul>`}const Yn={approval:`approval`,failure:`failed task`,callback:`dead callback`,delivery:`dead delivery`,adapter:`offline adapter`},Xn=({acknowledgedBy:e,acknowledgedAt:t},n)=>t===null?``:`acknowledged by ${e??`?`}, ${oe(t,n)}`;customElements.define(`bridge-needs-you`,Vn);const Zn=e=>/^[\w./:@-]+$/.test(e)&&!e.startsWith(`-`)?e:`'${e.replaceAll(`'`,`'\\''`)}'`,Qn=[`provider`,`agentId`,`message`,`taskId`,`model`,`systemPrompt`,`resumeToken`,`callbackUrl`],$n=[`profile`,`approvals`],er=[`metadata`,`bridgeInput`,`responderInput`],tr=[`task_description`,`scope`,`task_type`,`intensity`,`domains`,`provider`,`providers`],nr=[`domains`,`providers`],rr={provider:`Adapter`,agentId:`Agent`,message:`Message`,profile:`Profile`,approvals:`Approvals`,model:`Model`,timeoutSeconds:`Time limit in seconds`,output:`Output`,outputPath:`Output file`,outputSchema:`JSON Schema of the output`,taskId:`Task id`,resumeToken:`Resume token`,callbackUrl:`Callback URL`,systemPrompt:`System prompt`,metadata:`Metadata`,bridgeInput:`Input of the adapter`,responderInput:`Input of the responder`,others:`Other fields of the dispatch`,"council.task_description":`Task`,"council.scope":`Scope`,"council.task_type":`Type`,"council.intensity":`Intensity`,"council.domains":`Domains`,"council.provider":`Runtime`,"council.providers":`Runtimes`,"council.others":`Other fields of the council`};function ir(e,t=`agent`){let n=[],i=t=>e[t]??``,a=e=>{if(i(e).trim()!==``)try{return r(i(e))}catch(t){n.push({path:e,message:`must be JSON: ${t.message}`});return}},o=a(`others`)??{};(typeof o!=`object`||!o||Array.isArray(o))&&n.push({path:`others`,message:`must be a JSON object`});let s={},c=e=>t===`agent`||e!==`message`&&e!==`bridgeInput`;for(let e of Qn.filter(c))i(e).trim()!==``&&(s[e]=e===`message`?i(e):i(e).trim());for(let e of $n)i(e)!==``&&(s[e]=i(e));i(`timeoutSeconds`).trim()!==``&&(s.timeoutSeconds=Number(i(`timeoutSeconds`)));let l=sr(i(`output`),i(`outputPath`),()=>a(`outputSchema`));l!==void 0&&(s.outputStrategy=l);for(let e of er.filter(c)){let t=a(e);t!==void 0&&(s[e]=t)}return t===`council`&&(s.bridgeInput={...ar(e),...a(`council.others`)}),{body:{...s,...o},errors:n}}function ar(e){let t=tr.map(t=>[t,(e[`council.${t}`]??``).trim()]).filter(([,e])=>e!==``);return Object.fromEntries(t.map(([e,t])=>[e,nr.includes(e)?or(t):t]))}const or=e=>e.split(`,`).filter(e=>e!==``);function sr(e,t,n){return e===`file`?{type:e,path:t.trim()}:e===`structured`?{type:e,schema:n()??{}}:e===``?void 0:{type:e}}function cr(e){let{taskId:t,outputStrategy:n,timeoutSeconds:r,...i}=e,a={},o={},s=[...Qn,...$n];for(let[e,t]of Object.entries(i))s.includes(e)&&typeof t==`string`?a[e]=t:e===`bridgeInput`?Object.assign(a,lr(t),{bridgeInput:JSON.stringify(t,null,2)}):er.includes(e)?a[e]=JSON.stringify(t,null,2):o[e]=t;r!==void 0&&(a.timeoutSeconds=String(r));let{type:c=``,path:l=``,schema:u}=n??{};return Object.assign(a,{output:c,outputPath:l,...u!==void 0&&{outputSchema:JSON.stringify(u,null,2)}}),Object.keys(o).length>0&&(a.others=JSON.stringify(o,null,2)),a}function lr(e){let t={},n={};for(let[r,i]of Object.entries(e??{})){let e=tr.includes(r);e&&typeof i==`string`?t[`council.${r}`]=i:e&&Array.isArray(i)?t[`council.${r}`]=i.join(`,`):n[r]=i}return{...t,...Object.keys(n).length>0&&{"council.others":JSON.stringify(n,null,2)}}}function ur(e,t=`agent`){let[n=``,r=``]=e.split(`.`);return t===`council`&&e===`council.others`?e:t===`council`&&n===`bridgeInput`?tr.includes(r)?`council.${r}`:`council.others`:n===`outputStrategy`?r===`path`?`outputPath`:r===`schema`?`outputSchema`:`output`:[...Qn,...$n,...er,`timeoutSeconds`,`outputPath`,`outputSchema`,`others`].includes(n)?n:null}function dr(e,t){let n=t.replace(/^is required \(\w+\)$/,`is required`);return`${rr[e]??e} ${n.replace(/[.;]$/,``)}.`}const fr=(e,t)=>[`curl ${Zn(e)}`,`-H "Authorization: Bearer $BRIDGE_TOKEN"`,`-H "Content-Type: application/json"`,`-d ${Zn(JSON.stringify(t))}`].join(` \\
  `),pr=(e,t)=>`import { createBridgeClient } from "bridge-client";

const bridge = createBridgeClient({ url: ${JSON.stringify(e)}, token: process.env.BRIDGE_TOKEN ?? "" });
const { state, result } = await bridge.run(${JSON.stringify(t,null,2)});
console.log(state, result?.output);
`;async function mr(e){return navigator.clipboard===void 0?`Needs HTTPS`:navigator.clipboard.writeText(e).then(()=>null,()=>`Not permitted`)}function hr(e,t=`Copy`){return _`<button @click=${n=>{let r=n.currentTarget;mr(e).then(e=>{r.textContent=e??`Copied`,setTimeout(()=>{r.textContent=t},2e3)})}} .textContent=${t}></button>`}
/**
* @license
* Copyright 2020 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/const gr=de(class extends u{constructor(e){if(super(e),e.type!==C.PROPERTY&&e.type!==C.ATTRIBUTE&&e.type!==C.BOOLEAN_ATTRIBUTE)throw Error("The `live` directive is not allowed on child or event bindings");if(!te(e))throw Error("`live` bindings can only contain a single expression")}render(e){return e}update(e,[t]){if(t===w||t===S)return t;let n=e.element,r=e.name;if(e.type===C.PROPERTY){if(t===n[r])return w}else if(e.type===C.BOOLEAN_ATTRIBUTE){if(!!t===n.hasAttribute(r))return w}else if(e.type===C.ATTRIBUTE&&n.getAttribute(r)===t+``)return w;return x(e),t}});function Y(e,t){let{name:n,type:r=`text`,hint:i=``}=e,a=n.replaceAll(`.`,`-`),o=t.faultOf(n),s=[i===``?``:`${a}-hint`,o===``?``:`${a}-error`].filter(e=>e!==``).join(` `),c={id:a,invalid:o===``?S:`true`,described:s===``?S:s},u=_`${i===``?S:_`<p class="hint" id="${a}-hint">${i}</p>`}
    ${o===``?S:_`<p class="field-error" id="${a}-error">${l(o)}</p>`}`;return r===`list`?_`<fieldset class="wide" aria-describedby=${c.described}>
      <legend>${rr[n]??n}</legend>
      ${vr(e,t)} ${u}
    </fieldset>`:_`<div class=${r===`area`?`wide`:``}>
    <label for=${a}>${rr[n]??n}</label>
    ${_r(e,t,c)} ${u}
  </div>`}function _r({name:e,type:t=`text`,list:n,none:r=`default`},i,a){let{id:o,invalid:s,described:c}=a,l=i.valueOf(e),u=t=>i.onEdit(e,t.target.value);if(t===`area`){let t=e===`message`||e===`council.task_description`;return _`<textarea
      id=${o} rows=${t?5:3} .value=${gr(l)} @input=${u} aria-invalid=${s} aria-describedby=${c}
      spellcheck=${t}
    ></textarea>`}return typeof t==`object`?_`<select id=${o} @change=${u} aria-invalid=${s} aria-describedby=${c}>
      ${r===null?S:_`<option value="" ?selected=${l===``}>${r}</option>`}
      ${t.map(e=>_`<option value=${e.value} ?selected=${e.value===l} ?disabled=${e.isDisabled===!0}>
          ${e.name??e.value}
        </option>`)}
    </select>`:_`<input
    id=${o} type=${t} .value=${gr(l)} @input=${u} list=${n??S} autocomplete="off" spellcheck="false"
    aria-invalid=${s} aria-describedby=${c}
  />`}function vr({name:e,choices:t=[]},n){let r=or(n.valueOf(e)),i=r.filter(e=>!t.some(t=>t.value===e)).map(e=>({value:e})),a=t=>n.onEdit(e,(r.includes(t)?r.filter(e=>e!==t):[...r,t]).join(`,`));return _`<div class="choices">
    ${[...t,...i].map(e=>_`<label class="choice" title=${e.title??S}
        ><input type="checkbox" .checked=${gr(r.includes(e.value))} @change=${()=>a(e.value)} /> ${e.name??e.value}</label
      >`)}
  </div>`}const yr=[`review`,`analysis`,`audit`,`planning`,`implementation`,`research`],br=[{value:`inspect`},{value:`modify`}],xr=[{value:`quick`,name:`quick: no debate`},{value:`standard`,name:`standard: one round of debate`},{value:`thorough`,name:`thorough: up to three rounds`}],Sr=e=>Cr(e).includes(`bridgeInput`),Cr=e=>e?.capabilities?.inputs??[];function wr(e,{provider:t,adapters:n,domains:r}){let i=n.filter(e=>Cr(e).length===0).map(e=>({value:e.provider})),a=r.map(({name:e,expert:t})=>({value:e,title:t})),o=t===`deep-council`;return _`
    ${Y({name:`council.task_description`,type:`area`,hint:`What the council should do.`},e)}
    ${Y({name:`council.scope`,type:`area`,hint:`Files, topics or a description to work on.`},e)}
    ${Y({name:`council.task_type`,type:yr.map(e=>({value:e})),none:`choose one`},e)}
    ${Y({name:`council.intensity`,type:xr},e)}
    ${o?S:Y({name:`council.provider`,type:i},e)}
    ${Y({name:`profile`,type:br,hint:`An implementation needs modify.`},e)}
    ${Y({name:`timeoutSeconds`,type:`number`},e)}
    ${o?Y({name:`council.providers`,type:`list`,choices:i,hint:`None: those of the settings.`},e):S}
    ${Y({name:`council.domains`,type:`list`,choices:a,hint:o?`None: the council chooses from the text.`:`At least one. Each has an expert.`},e)}
  `}function Tr(e){let{provider:t}=e.filter(({health:e})=>e.status===`healthy`).find(e=>Cr(e).length===0)??{};if(t===void 0)return _`<p class="empty">No tasks yet, and no adapter is ready. <a href=${M(`adapters`)}>See why</a></p>`;let n=fr(new URL(`api/v2/dispatch`,y).href,{provider:t,agentId:`auditor`,message:`Count BRIDGE in *.md`,files:[{path:`notes.md`,content:`BRIDGE is one endpoint. BRIDGE loses no task.`}]});return _`<p class="empty">No tasks yet. <a href=${M(`new`)}>Dispatch one here</a>, or from a terminal with your token in BRIDGE_TOKEN:</p>
    <pre tabindex="0"><code>${n}</code></pre>
    <p>${hr(n,`Copy as curl`)}</p>`}function Er(e,t){if(t!==`j`&&t!==`k`||e.length===0)return!1;let n=e.indexOf(document.activeElement);return e[Math.min(e.length-1,Math.max(0,n+(t===`j`?1:-1)))]?.focus(),!0}const Dr=`finished=today&state=failed`,Or=[{name:`All`,query:``},{name:`Running`,query:`state=running`},{name:`Failed today`,query:Dr},{name:`Needs approval`,query:`waitingOn=approval`},{name:`Dead callbacks`,query:`callback=dead`}];function X(e){let t=new URLSearchParams([...e].filter(([,e])=>e!==``));return t.sort(),t.toString()}function kr(e,t){let n=`bridge.views.${t}`,r=()=>Ar(e.getItem(n)),i=t=>e.setItem(n,JSON.stringify(t));return{list:r,save:e=>i([...r().filter(({name:t})=>t!==e.name),e].slice(-20)),remove:e=>i(r().filter(t=>t.name!==e))}}function Ar(e){try{let t=JSON.parse(e??`[]`);return Array.isArray(t)?t.filter(jr):[]}catch{return[]}}const jr=e=>typeof e==`object`&&!!e&&typeof Reflect.get(e,`name`)==`string`&&typeof Reflect.get(e,`query`)==`string`,Mr=36e5,Nr={hour:{name:`Last hour`,start:e=>e-Mr},today:{name:`Today`,start:e=>new Date(e).setHours(0,0,0,0)},"7d":{name:`Last 7 days`,start:e=>e-168*Mr},"30d":{name:`Last 30 days`,start:e=>e-720*Mr}},Pr=[`search`,`state`,`provider`,`agentId`,`label`,`errorCode`,`callback`,`waitingOn`,`q`,`idPrefix`,`parentTaskId`,`root`,`createdAfter`,`createdBefore`,`finishedAfter`,`finishedBefore`],Fr=[`search`,`q`,`idPrefix`,`agentId`,`parentTaskId`,`root`,`waitingOn`],Ir=e=>e.get(`children`)===`all`||Fr.some(t=>(e.get(t)??``)!==``);function Lr(e,t){let n=n=>{let r=Nr[e.get(n)??``]?.start(t);return r===void 0?void 0:new Date(r).toISOString()},r={createdAfter:n(`created`),finishedAfter:n(`finished`)},i=Pr.map(t=>[t,e.get(t)??``]);return{...!Ir(e)&&{root:`*`},...Object.fromEntries(Object.entries(r).filter(e=>e[1]!==void 0)),...Object.fromEntries(i.filter(([,e])=>e!==``))}}const Rr=({costUsd:e,tasksWithoutCost:t})=>Br(a(e),e!==null&&t>0),zr=(e,{tasksWithoutUsage:t})=>Br(i(e),e!==null&&t>0),Br=(e,t)=>t?`${e} + ?`:e,Vr=[`cost`,`tokens`,`tasks`];function Hr({data:e},t){if(t===`tasks`)return[{kind:`completed`,label:`completed`,values:e.map(({completed:e})=>e)},{kind:`failed`,label:`failed`,values:e.map(({failed:e})=>e)},{kind:`cancelled`,label:`canceled`,values:e.map(({cancelled:e})=>e)}];let n=t===`cost`?({costUsd:e})=>e:Gr,r=Wr(e).map((t,n)=>({kind:`part-${n+1}`,label:t===null?`unknown model`:l(t),values:e.map(({parts:e=[]})=>i(e.find(e=>e.key===t)))}));function i(e){return e==null?0:n(e)}let a={kind:`others`,label:`others`,values:e.map(({otherParts:e})=>i(e))};return e.some(({otherParts:e})=>e!=null)?[...r,a]:r}const Ur=(e,t)=>e===`cost`?a(t):i(t);function Wr(e){let t=/* @__PURE__ */ new Map;for(let{key:n,costUsd:r,tasks:i}of e.flatMap(({parts:e=[]})=>e)){let{cost:e,tasks:a}=t.get(n)??{cost:0,tasks:0};t.set(n,{cost:e+(r??0),tasks:a+i})}return[...t].sort(([,e],[,t])=>t.cost-e.cost||t.tasks-e.tasks).map(([e])=>e)}const Gr=({inputTokens:e,outputTokens:t})=>e===null&&t===null?null:(e??0)+(t??0);function Kr(e,t){if(e===null||t===null)return``;if(t===0)return e===0?`no change`:`none before`;let n=e/t;if(n>=10)return`${i(Math.round(n))} times`;let r=Math.round((n-1)*100);return r===0?`no change`:`${r>0?`+`:`−`}${Math.abs(r)} %`}const qr=`state=running`,Jr=`state=queued`;var Yr=class extends he{#e=B(this,async e=>(await this.context.api.list(`/api/v2/tasks`,{root:`*`,limit:30},{signal:e})).data);#t=B(this,async e=>{let t=new Date(new Date(F()).setHours(0,0,0,0)).toISOString();return(await this.context.api.call(`/api/v2/stats?${new URLSearchParams({from:t,limit:`1`})}`,{signal:e})).total},{intervalMs:()=>15e3});#n=B(this,async e=>(await this.context.api.list(`/api/v2/tasks`,{state:`running`,root:`*`,limit:20},{signal:e})).data);#r=B(this,async e=>{let[t,n,r]=await Promise.all([qr,Jr,Dr].map(async t=>{let n={...Lr(new URLSearchParams(t),F()),limit:200},{data:r,meta:i}=await this.context.api.list(`/api/v2/tasks`,n,{signal:e});return p(r.length,i.nextCursor!==null)}));return{running:t,queued:n,failed:r}});#i;#a=[];onKey(e){return Er([...this.querySelectorAll(`.board .what > a`)],e)}connectedCallback(){super.connectedCallback();let{attention:e,feed:t}=this.context;this.#i=setInterval(()=>this.requestUpdate(),1e3),this.#a=[e.subscribe(()=>this.requestUpdate()),t.subscribe(()=>{for(let e of[this.#e,this.#n,this.#r])e.refresh()})]}disconnectedCallback(){super.disconnectedCallback(),clearInterval(this.#i);for(let e of this.#a)e()}render(){let{error:e}=this.context.attention.state,t=this.#t.value,{running:n=``,queued:r=``,failed:i=``}=this.#r.value??{};return _`
      <div class="page-head"><h1>Overview</h1><span class="hint">Times in ${o}</span></div>
      ${D(e)}
      <ul class="figures">
        ${Z(`Running`,n,`tasks?${qr}`)} ${Z(`Queued`,r,`tasks?${Jr}`)}
        ${Z(`Failed today`,i,`tasks?${Dr}`,i!==``&&i!==`0`)}
        ${Z(`Ended today`,t?.tasks??``,`usage?window=today`)}
        ${Z(`Cost today`,t===void 0?``:Rr(t),`usage?window=today`)}
      </ul>
      <section aria-labelledby="needs-you">
        <h2 id="needs-you">Needs you</h2>
        <bridge-needs-you .context=${this.context} .now=${F()}></bridge-needs-you>
      </section>
      ${this.#o()}
    `}#o(){let{value:e=[],error:t}=this.#n,{value:n,error:r}=this.#e;if(n===void 0)return _`${D(r)}`;if(n.length===0)return Tr(this.context.attention.state.adapters);let i=F(),a=n.filter(T).toSorted((e,t)=>(t.finishedAt??``).localeCompare(e.finishedAt??``)).slice(0,10);return _`
      <section aria-labelledby="running">
        <h2 id="running">Running now</h2>
        ${D(t)}
        ${e.length===0?_`<p class="empty">Nothing runs.</p>`:S}
        <ul class="rows board" @click=${Ln}>
          ${L(e,({taskId:e})=>e,e=>Zr(e,i))}
        </ul>
        ${e.length===20?_`<p><a href=${M(`tasks?state=running`)}>All running tasks</a></p>`:S}
      </section>
      <section aria-labelledby="recent">
        <h2 id="recent">Latest ended</h2>
        ${D(r)}
        <ul class="rows board" @click=${Ln}>
          ${L(a,({taskId:e})=>e,e=>_`<li>${Qr(e,i)} ${N(e.finishedAt,i)}</li>`)}
        </ul>
        <p><a href=${M(`tasks`)}>All tasks</a></p>
      </section>
    `}};const Xr=({taskId:e,title:t,agentId:n,provider:r})=>[...t===null?[]:[e],n,r].join(` · `);function Zr(e,n){let{startedAt:r,lastProgressAt:i}=e;return _`<li>
    ${Qr(e,n)}
    <span class="detail do">${i===null?S:_`last event ${re(i,n)}`}</span>
    ${r===null?S:_`<time datetime=${r} title=${se(r)}>for <strong>${t(n-Date.parse(r))}</strong></time>`}
  </li>`}const Qr=(e,t)=>_`
  ${j(O(e,t))}
  <div class="what">
    <a href=${E(e.taskId)}>${l(e.title??e.taskId)}</a> <span class="detail">${Xr(e)}${ce(e)}</span>
  </div>
`;function Z(e,t,n,r=!1){return _`<li class=${r?`urgent`:``}>
    <a href=${M(n)}><span class="value">${t}</span> <span class="label">${e}</span></a>
  </li>`}customElements.define(`bridge-overview`,Yr);var $r=class extends v{static properties={reason:{attribute:!1},onSignIn:{attribute:!1}};#e(e){e.preventDefault();let t=new FormData(e.target),n=String(t.get(`token`)??``).trim();n!==``&&this.onSignIn(n,{remember:t.get(`remember`)===`on`})}firstUpdated(){this.querySelector(`#token`)?.focus()}render(){return _`
      <main class="sign-in">
        <h1>Bridge</h1>
        ${this.reason===null?S:_`<p class="note error" role="alert">${l(this.reason)}</p>`}
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
    `}};customElements.define(`bridge-sign-in`,$r);function ei(e,t){let n=`/api/v2/tasks/${encodeURIComponent(t)}`,r,i=null,a=!0;async function o(t){let r=await e.call(`${n}/request`,{signal:t}),{message:i,...a}=r.request;return{message:i,fields:a,isMasked:r.masked.length>0}}async function s({callback:n},r){return n===null||n.attempts===0?null:(i?.attempts!==n.attempts&&(i=await e.call(`/api/v2/callbacks/${encodeURIComponent(t)}`,{signal:r})),i)}async function c({provider:t,createdAt:n},r){let i={state:`queued`,provider:t,createdBefore:n,limit:200},{data:a,meta:o}=await e.list(`/api/v2/tasks`,i,{signal:r});return p(a.length,o.nextCursor!==null)}return async i=>{let l=()=>e.list(`${n}/files`,{limit:200},{signal:i}).catch(()=>null),[u,d,f,p]=await Promise.all([e.call(n,{signal:i}),e.list(`/api/v2/tasks`,{parentTaskId:t,limit:200},{signal:i}),r??o(i),a?l():null]);r=f,a=!1;let[m,h,g]=await Promise.all([T(u)?p??l():null,s(u,i),u.state===`queued`?c(u,i):null]);return{task:u,children:d.data.toReversed(),files:m?.data??[],request:r,callback:h,ahead:g}}}function ti({attempts:e,history:t},n){if(t.length===0)return S;let r=e-t.length;return _`<section aria-labelledby="attempts">
    <h2 id="attempts">Callback attempts <span class="hint">${e}</span></h2>
    <ul class="rows attempts">
      ${t.toReversed().map(e=>ni(e,n))}
    </ul>
    ${r===0?S:_`<p class="hint">Earlier attempts are no longer stored: ${r}.</p>`}
  </section>`}function ni({number:e,at:t,status:n,error:r,durationMs:i,response:a,responseTruncated:o},s){return _`<li>
    <strong>${e}</strong> <span>${n===null?`no response`:`HTTP ${n}`}</span>
    <span class="detail">${r===null?`delivered`:l(r)}, ${h(i)}</span>
    ${ue(t,s)}
    ${a===null||a===``?S:_`<details>
            <summary>Response ${o?_`<span class="hint">beginning</span>`:S}</summary>
            ${V(a)}
          </details>`}
  </li>`}const ri=`bridge.plain-text`,ii=/* @__PURE__ */ new Set,Q={get isOn(){return localStorage.getItem(ri)!==null},toggle(){Q.isOn?localStorage.removeItem(ri):localStorage.setItem(ri,`on`);for(let e of ii)e()},subscribe(e){return ii.add(e),()=>ii.delete(e)}};let ai=null;async function oi(){ai??=import(`./markdown-BDPeweBn.js`).catch(()=>null);let e=await ai;return e===null&&(ai=null),e}var si=class extends v{static properties={text:{attribute:!1},level:{attribute:!1},isComplete:{attribute:!1}};#e={text:``,element:null};#t=()=>{};#n=new ResizeObserver(e=>{for(let{target:t}of e)t.scrollWidth>t.clientWidth||t.scrollHeight>t.clientHeight?t.setAttribute(`tabindex`,`0`):t.removeAttribute(`tabindex`)});connectedCallback(){super.connectedCallback(),this.#t=Q.subscribe(()=>this.requestUpdate())}disconnectedCallback(){super.disconnectedCallback(),this.#t(),this.#n.disconnect(),this.#e={text:``,element:null}}willUpdate(e){this.isComplete&&!Q.isOn&&this.#e.text!==this.text&&(this.#e={text:this.text,element:null},this.#r())}async#r(){let e=this.#e,t=await oi();e.text.length>500&&await new Promise(e=>setTimeout(e));let n=await t?.renderMarkdown(e.text,{level:this.level,show:l});if(n!=null&&e===this.#e){e.element=n,this.#n.disconnect();for(let e of n.querySelectorAll(`pre, .scroll`))this.#n.observe(e);this.requestUpdate()}}render(){let{text:e,element:t}=this.#e;return!this.isComplete||Q.isOn||e!==this.text||t===null?V(this.text,{showsEnd:!this.isComplete}):_`${t}`}};customElements.define(`bridge-markdown-text`,si);const ci=(e,{level:t,isComplete:n=!0})=>_`<bridge-markdown-text .text=${e} .level=${t} .isComplete=${n}></bridge-markdown-text>`;var li=class extends v{static properties={taskId:{attribute:!1},heading:{attribute:!1},context:{attribute:!1}};#e=null;render(){return _`<details @toggle=${this.#n}>
      <summary>${l(this.heading)}</summary>
      ${this.#t()}
    </details>`}#t(){let e=this.#e;if(e===null)return S;if(e instanceof I)return _`${D(e)}`;let{output:t,outputs:n,error:r}=e.result??{};return _`
      ${t?ui(t):n===void 0?_`<p class="empty">${l(r??`No answer.`)}</p>`:V(n)}
      <p><a href=${E(e.taskId)}>The task of this role</a></p>
    `}async#n(e){e.newState===`open`&&this.#e===null&&(this.#e=await this.context.api.call(`/api/v2/tasks/${encodeURIComponent(this.taskId)}`).catch(e=>e instanceof I?e:new I(0,`unreachable`,String(e))),this.requestUpdate())}};function ui(e){try{return V(JSON.parse(e))}catch{return ci(e,{level:4})}}customElements.define(`bridge-answer`,li);const di={PASS:[`completed`,`✓`],CONCERNS:[`approval`,`!`],FAIL:[`failed`,`✕`]},fi={SKIPPED:[`failed`,`✕`],HALTED:[`approval`,`!`],ABORTED:[`failed`,`✕`]},pi=(e,t)=>(Object.hasOwn(e,t)?e[t]:void 0)??[``,``];function mi({verdict:e,status:t,isPartial:n,skipped:r,findings:i,rounds:a,roles:o},s,c){let[u,d]=pi(di,e??``),[f,p]=pi(fi,t??``);return _`<section aria-labelledby="council">
    <h2 id="council" class="verdict">Council ${e===null?S:A(u,d,e)}
      ${t===null||t===`COMPLETED`?S:A(f,p,t)}</h2>
    ${n?_`<p class="note warning">Not every requested runtime completed, so the coverage is partial.</p>`:S}
    ${r.map(({bridge:e,reason:t})=>_`<p class="note info"><strong>${e}</strong> did not take part: ${l(t)}</p>`)}
    ${o.length===0?S:_`<div class="scroll council-roles" tabindex="0" role="region" aria-label="Roles and rounds">
            <table class="council">
              <thead>
                <tr><th scope="col">Role</th>${a.map(e=>_`<th scope="col">Round ${e}</th>`)}</tr>
              </thead>
              <tbody>
                ${o.map(({name:e,turns:t})=>_`<tr>
                    <th scope="row">${l(e)}</th>
                    ${a.map(e=>_`<td>${gi(t.get(e),c)}</td>`)}
                  </tr>`)}
              </tbody>
            </table>
          </div>`}
    ${i.length===0?S:_`<h3>Findings <span class="hint">${i.length}</span></h3><ul class="rows findings">${i.map(vi)}</ul>`}
    ${hi(o,s)}
  </section>`}function hi(e,t){let n=e.flatMap(({name:e,turns:t})=>[...t].flatMap(([t,{task:n}])=>n===void 0||!T(n)?[]:[{name:e,round:t,taskId:n.taskId}]));return n.length===0?S:_`<details>
    <summary>Answers of the roles <span class="hint">${n.length}</span></summary>
    <ul class="rows findings">
      ${n.map(({name:e,round:n,taskId:r})=>_`<li><bridge-answer .taskId=${r} .heading=${`${e}, round ${n}`} .context=${t}></bridge-answer></li>`)}
    </ul>
  </details>`}function gi(e,t){if(e===void 0)return S;let{task:n,answers:r}=e,i=r.length>0?_i(r):n===void 0?S:j(O(n,t)),a=r.filter(({answered:e})=>!e).map(({reason:e})=>e);return _`${n===void 0?i:_`<a href=${E(n.taskId)}>${i}</a>`}
    ${a.map(e=>_`<p class="detail">${l(e)}</p>`)}`}function _i(e){let t=e.filter(({answered:e})=>e).length;return t===e.length?A(`completed`,`✓`,`answered`):t===0?A(`failed`,`✕`,`no answer`):A(`approval`,`!`,`${t} of ${e.length} answered`)}function vi({severity:e,status:t,title:n,description:r,evidence:i,action:a,raisedBy:o,note:s}){return _`<li>
    <details>
      <summary>
        ${e===null?S:A(e===`CRITICAL`||e===`HIGH`?`failed`:`approval`,`▲`,e)}
        ${t===``?S:A(``,``,t)} <span class="title">${l(n)}</span> <span class="detail">${l(o)}</span>
      </summary>
      ${s===``?S:_`<p class="detail">${l(s)}</p>`} ${ci(r,{level:4})}
      ${i===null?S:_`<h4>Evidence</h4>${V(i)}`} ${a===null?S:_`<h4>Action</h4>${ci(a,{level:5})}`}
    </details>
  </li>`}const yi={"+":`added`,"-":`removed`," ":`same`},bi=/^(?:new file|deleted file|old mode|new mode|Binary files)/;function xi(e,t){let n=[],r={path:``,notes:[],lines:[]},[i,a,o,s]=[0,0,0,0];function c(e){let t=yi[e[0]];if(o+s>0&&t!==void 0){let[n,c]=[t!==`added`,t!==`removed`];r.lines.push({kind:t,oldNumber:n?i:null,newNumber:c?a:null,text:e.slice(1)}),n&&([i,o]=[i+1,o-1]),c&&([a,s]=[a+1,s-1])}else e.startsWith(`\\`)?r.lines.push({kind:`comment`,oldNumber:null,newNumber:null,text:e.slice(2)}):l(e)}function l(e){let t=/^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(e);t===null?e.startsWith(`diff --git `)?([o,s]=[0,0],r={path:Si(e.slice(11)),notes:[],lines:[]},n.push(r)):bi.test(e)&&r.notes.push(e):([i,o,a,s]=[t[1],t[2]??1,t[3],t[4]??1].map(Number),r.lines.push({kind:`hunk`,oldNumber:null,newNumber:null,text:e}))}let u=0;for(let r=0;u<e.length;r+=1){if(r===t)return{files:n,rest:u};let i=e.indexOf(`
`,u),a=i===-1?e.length:i;c(e.slice(u,a)),u=a+1}return{files:n,rest:null}}const Si=e=>e.slice(0,(e.length-1)/2).replace(/^a\//,``),Ci=e=>e.split("`").map((e,t)=>t%2==1?_`<code>${l(e)}</code>`:l(e)),wi=1e3,Ti=2e3,Ei={bytes:`The diff is too long. Its end is missing.`,time:`git took too long. The end of the diff is missing.`,unreadable:`git could not read a file or an object. The end of the diff is missing.`};var Di=class extends v{static properties={context:{attribute:!1},taskId:{attribute:!1}};#e=`closed`;#t=wi;async#n(){this.#e=`loading`,this.#t=wi,this.requestUpdate();let e=`/api/v2/tasks/${encodeURIComponent(this.taskId)}/diff`;this.#e=await this.context.api.call(e).catch(e=>e instanceof I?e:new I(0,`unreachable`,String(e))),this.requestUpdate()}render(){let e=this.#e;if(e===`closed`)return _`<button @click=${this.#n}>Show the diff</button>`;if(e===`loading`)return _`<p role="status">Comparing with the commit at the start …</p>`;let t=e instanceof I?_`<p class="note ${e.code===`invalid_state`?`info`:`error`}" role="status">${Ci(e.message)}</p>`:this.#r(e);return _`${t} <button @click=${this.#n}>Compare again</button>`}#r({commit:e,directory:t,diff:n,diffBase64:r,truncated:i,omitted:a}){let{files:o,rest:s}=xi(n,this.#t);return _`
      <p class="hint">
        Changes since commit <code>${e.slice(0,12)}</code>${t===``?``:_` in <code>${l(t)}</code>`}, as the
        files are now.
      </p>
      ${i===null?S:_`<p class="note warning">${Ei[i]??`The end of the diff is missing.`}</p>`}
      ${typeof r==`string`?_`<p class="note info">Bytes that are not UTF-8 are shown as �.</p>`:S}
      ${a.length===0?S:_`<p class="note warning">Too large to be compared: ${l(a.join(`, `))}</p>`}
      ${n===``&&i===null?_`<p class="empty">No changes.</p>`:o.map(Oi)}
      ${s===null?S:_`<button @click=${this.#i}>Show more (${b(n.length-s)} left)</button>`}
    `}#i(){this.#t+=5e3,this.requestUpdate()}};function Oi({path:e,notes:t,lines:n}){return _`<div class="diff">
    <h3><code>${l(e)}</code></h3>
    ${t.map(e=>_`<p class="hint">${l(e)}</p>`)}
    ${n.length===0?S:_`<table aria-label="Changes of ${l(e)}"><tbody>${n.map(Ai)}</tbody></table>`}
  </div>`}const ki={added:`+`,removed:`-`,same:` `,hunk:``,comment:``},Ai=({kind:e,oldNumber:t,newNumber:n,text:r})=>_`<tr class=${e}><td class="line">${t}</td><td class="line">${n}</td><td class="sign">${ki[e]}</td><td class="code">${l(ji(r))}</td></tr>`,ji=e=>e.length<=Ti?e:`${e.slice(0,Ti)} … (${e.length-Ti} more characters)`;customElements.define(`bridge-task-diff`,Di);const Mi=(e,t)=>_`<section aria-labelledby="diff">
    <h2 id="diff">Diff</h2>
    <bridge-task-diff .taskId=${e} .context=${t}></bridge-task-diff>
  </section>`;function Ni({attempts:e,lastStatus:t,lastError:n,nextAttemptAt:r},i){let a=[`${e} ${e===1?`attempt`:`attempts`}`];return t!==null&&a.push(`HTTP ${t}`),n!==null&&n!==`http_${t}`&&a.push(l(n)),r!==null&&a.push(`next at ${oe(r,i)}`),a.join(`, `)}function Pi(e,t){let{result:n,createdAt:r,startedAt:o,finishedAt:s}=e,c=s===null?t:Date.parse(s),l=n?.usage,u=[[`Started`,o===null?`not yet`:_`${ue(o,t)} <span class="detail">(${re(o,t)})</span>`],[`Duration`,o===null?``:h(c-Date.parse(o))],[`Queue wait`,h((o===null?c:Date.parse(o))-Date.parse(r))],[`Cost`,n===null?``:a(n.costUsd)],[`Tokens`,n===null?``:l===void 0?`?`:`${i(l.inputTokens)} in, ${i(l.outputTokens)} out`]];return _`<dl class="task-figures">${u.map(([e,t])=>_`<div><dt>${e}</dt><dd>${t}</dd></div>`)}</dl>`}function Fi(e,t){let{result:n,callback:r}=e,i=Object.entries(e.labels),a=[[`Agent`,_`<a href=${M(`tasks?agentId=${encodeURIComponent(e.agentId)}`)}>${e.agentId}</a>`],[`Adapter`,_`<a href=${M(`adapters#${encodeURIComponent(e.provider)}`)}>${e.provider}</a>${n===null?S:` · ${n.connection}`}`],[`Model`,e.model??(n===null?null:`?`)],[`Labels`,i.length===0?null:i.map(([e,t])=>{let n=`${e}=${t}`;return _`<a class="chip" href=${M(`tasks?label=${encodeURIComponent(n)}`)}>${l(n)}</a> `})],[`Created`,ue(e.createdAt,t)],[`Ended`,e.finishedAt===null?null:ue(e.finishedAt,t)],[`Parent`,e.parentTaskId===null?null:_`<a href=${E(e.parentTaskId)}>${l(e.parentTaskId)}</a>`],[`Node`,e.node],[`Callback`,r===null?null:_`${pe(r)} ${l(r.url)}
            <span class="detail">${T(e)?Ni(r,t):`starts when the task ends`}</span>`],[`Metadata`,e.metadata===null?null:_`<code>${l(P(m(e.metadata),400))}</code>`]];return _`<dl class="facts">
    ${a.filter(([,e])=>e!==null).map(([e,t])=>_`<div><dt>${e}</dt><dd>${t}</dd></div>`)}
  </dl>`}function Ii({state:e,errorCode:t,result:n,taskId:r,provider:i},a){if(e!==`failed`&&e!==`cancelled`)return S;let o=t??n?.errorCode??e,s=At(o);return _`<section class="failure ${e}" aria-label="Why the task failed">
    ${Li(o,n?.error??s?.cause??``)}
    ${s===null?S:_`<p class="advice">${n?.error===void 0?S:_`${Ci(s.cause)} `}${Ci(s.advice)}</p>
            <div class="actions">${s.remedies.map(e=>Ri(e,{taskId:r,provider:i},a))}</div>`}
  </section>`}const Li=(e,t)=>t.length>400||t.includes(`
`)?_`<p><strong>${e}</strong></p>${V(t)}`:_`<p><strong>${e}</strong> ${l(t)}</p>`;function Ri(e,{taskId:t,provider:n},{mayDispatch:r,longerLimit:i,runAgain:a}){switch(e){case`open_adapter`:return _`<a class="button" href=${M(`adapters#${encodeURIComponent(n)}`)}>Open the adapter ${n}</a>`;case`change_request`:return r?_`<a class="button" href=${M(`new?from=${encodeURIComponent(t)}`)}>Run again with changes</a>`:S;case`run_again`:return r?_`<button @click=${()=>a({})}>Run again</button>`:S;case`run_longer`:return!r||i===null?S:_`<button @click=${()=>a({timeoutSeconds:i})}>Run again with ${h(i*1e3)}</button>`}}function zi(e,t){return e.length===0?S:_`<section aria-labelledby="files">
    <h2 id="files">Files <span class="hint">${e.length}${e.length===200?`+`:``}</span></h2>
    <ul class="rows">
      ${e.map(e=>_`<li>
          <code>${l(e.path)}</code> <span class="detail">${b(e.bytes)}</span>
          <button @click=${()=>t(e)} aria-label="Download ${l(e.path)}">Download</button>
        </li>`)}
    </ul>
  </section>`}function Bi(e,t){let n=e=>e.currentTarget.closest(`details`)?.removeAttribute(`open`);return _`<details class="menu" @focusout=${e=>{e.currentTarget.contains(e.relatedTarget)||n(e)}} @keydown=${e=>{e.key===`Escape`&&(n(e),e.currentTarget.querySelector(`summary`)?.focus())}}>
    <summary aria-label=${e}>${U(Oe)}</summary>
    <ul>
      ${t.map(({name:e,run:t})=>_`<li><button @click=${e=>{n(e),t()}}>${e}</button></li>`)}
    </ul>
  </details>`}function Vi(e,t,n,r){return _`<div class="task-head">
    <p class="crumb">
      <a href=${M(`tasks`)}>Tasks</a> / <code>${l(e.taskId)}</code>
      <button class="plain small" @click=${()=>n.copy(e.taskId,`id`)} aria-label="Copy the id">${U(De)}</button>
    </p>
    <div class="page-head">
      <h1>${l(e.title??e.taskId)} ${j(t)}</h1>
      <div class="actions">${Wi(e,n)} ${Bi(`More actions`,Hi(e,n))}</div>
    </div>
    ${Pi(e,r)}
  </div>`}function Hi(e,{mayDispatch:t,ask:n,copy:r,togglePlainText:i}){let{taskId:a}=e;return[{name:`Copy the link`,run:()=>r(E(a),`link`)},{name:`Copy as curl`,run:()=>r(Gi(`/api/v2/tasks/${encodeURIComponent(a)}`),`curl command`)},{name:`Copy as command`,run:()=>r(`brg task ${Zn(a)}`,`command`)},{name:`Save as JSON`,run:()=>It(new Blob([JSON.stringify(e,null,2)],{type:`application/json`}),`${a}.json`)},{name:Q.isOn?`Show Markdown`:`Show plain text`,run:i},...t&&T(e)?[{name:`Delete …`,run:()=>n(`delete`)}]:[]]}const Ui={cancel:`Cancel this task and its child tasks?`,delete:`Delete this task with its events and its callback?`};function Wi(e,{mayDispatch:t,question:n,ask:r,confirm:i,runAgain:a,redeliver:o}){return t?n===null?_`
    ${T(e)?S:_`<button class="danger" @click=${()=>r(`cancel`)}>Cancel</button>`}
    ${e.callback?.state===`dead`?_`<button @click=${o}>Redeliver the callback</button>`:S}
    ${e.state===`completed`?_`<button @click=${a}>Run again</button>`:S}
    <a class="button" href=${M(`new?from=${encodeURIComponent(e.taskId)}`)}>Run again with changes</a>
  `:_`<span>${Ui[n]}</span>
      <button class="danger" @click=${()=>i(n)}>Yes, ${n}</button>
      <button @click=${()=>r(null)}>No</button>`:S}const Gi=e=>`curl ${Zn(new URL(e.slice(1),y).href)} -H "Authorization: Bearer $BRIDGE_TOKEN"`;function Ki({result:e,state:t}){return e===null?null:t===`completed`?e.output?{text:e.output.trim(),note:`The answer, which is shown as the result.`}:null:e.error?{text:e.error.trim(),note:`The error, which is shown above.`}:null}function qi({result:e,state:t},n,{isFolded:r}){if(e===null)return S;let{error:i,output:a=``,outputs:o}=e,s=t!==`completed`&&(a.trim()===(i??``).trim()||Ji(n,a.trim())),c=a===``||s?S:ci(Yi(a),{level:3});return t!==`completed`&&c===S&&o===void 0?S:_`<section aria-labelledby="result">
    <h2 id="result">${t===`completed`?`Result`:`Output before the end`}</h2>
    ${r&&c!==S?_`<details><summary>The whole report</summary>${c}</details>`:c}
    ${o===void 0?S:_`<details ?open=${a===``}><summary>Structured output</summary>${V(o)}</details>`}
    ${c===S&&o===void 0?_`<p class="empty">No output.</p>`:S}
  </section>`}const Ji=({turns:e},t)=>e.some(({entries:e})=>e.some(e=>e.kind===`text`&&!e.isDiscarded&&e.text.trim()===t)),Yi=e=>e.replace(/^---\n(?:[\w-]+: .*\n)+---\n/,``);function Xi({message:e,fields:t}){return _`<section aria-labelledby="request">
    <h2 id="request">Request</h2>
    ${typeof e==`string`&&e!==``?V(e):S}
    <details><summary>All fields</summary>${V(t)}</details>
  </section>`}function Zi({start:e,length:t},n,r,{label:i,kind:a=``}){let o=n=>Math.min(100,Math.max(0,(n-e)/t*100));return _`<svg class="lane" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label=${i}>
    <rect class="track" width="100" height="8" />
    <rect class="bar ${a}" x=${Math.min(99,o(n))} width=${Math.max(1,o(r)-o(n))} height="8" />
  </svg>`}function Qi({length:t}){return _`<svg class="axis" aria-hidden="true">
    ${vn(t).map(n=>{let r=`${100*n/t}%`;return e`<line x1=${r} x2=${r} y1="20" y2="100%" /><text x=${r} y="13">${n===0?`0`:h(n)}</text>`})}
  </svg>`}function $i(e,t,{at:n,onMove:r}){let i=e.map(({entry:e})=>q(e)),a=n=>{let a=Number(n.target.value),o=a===159?-1:i.findIndex(e=>e>=t.start+a/160*t.length);r(o===-1?e.length-1:o)},o=i[n]===void 0?0:ea(i[n],t);return _`<div class="minimap">
    <svg viewBox="0 0 ${160} ${24}" preserveAspectRatio="none" aria-hidden="true">
      <path class="bars" d=${na(ta(i,t))} />
      <path class="failed" d=${na(ta(i.filter((t,n)=>cn.errors(e[n].entry)),t))} />
    </svg>
    <input type="range" min="0" max=${159} .value=${String(o)} aria-label="Time in the timeline" @change=${a} />
  </div>`}const ea=(e,{start:t,length:n})=>Math.min(159,Math.max(0,Math.floor((e-t)/n*160)));function ta(e,t){let n=Array.from({length:160},()=>0);for(let r of e)n[ea(r,t)]=n[ea(r,t)]+1;return n}function na(e){return e.map((e,t)=>{let n=e===0?0:Math.min(24,6+4*Math.log2(e));return n===0?``:`M${t} 24v${-n}h0.8v${n}z`}).join(``)}var ra=class extends v{static properties={call:{attribute:!1},revision:{attribute:!1},offset:{attribute:!1},axis:{attribute:!1},now:{attribute:!1},isRunning:{attribute:!1},isForced:{attribute:!1}};#e=!1;willUpdate(e){e.has(`isForced`)&&e.get(`isForced`)!==void 0?this.#e=this.isForced:this.isForced&&!this.hasUpdated&&(this.#e=!0)}render(){let{toolName:e,input:t,isError:n,completedAt:r,invokedAt:i}=this.call,a=Date.parse(i),o=r===null?this.isRunning?this.now:a:Date.parse(r),s=r===null?this.isRunning?`running for ${h(o-a)}`:`no result`:h(o-a),c=n?`failed`:r===null?`open`:``;return _`<details class=${n?`is-error`:``} ?open=${this.#e} @toggle=${this.#t}>
      <summary>
        <span class="offset">${this.offset}</span>
        <span class="line" title=${l(xn(t))}
          ><code class="tool">${l(e)}</code> <span class="input">${l(xn(t))}</span> ${n?A(`failed`,`✕`,`error`):S}</span
        >
        ${Zi(this.axis,a,o,{label:s,kind:c})}
        <span class="time ${c}">${s}</span>
      </summary>
      ${this.#e?this.#n():S}
    </details>`}#t(e){let t=e.newState===`open`;t!==this.#e&&(this.#e=t,this.requestUpdate())}#n(){let{input:e,output:t,completedAt:n,isTruncated:r}=this.call;return _`<div class="body">
      ${r?_`<p class="note warning">Bridge cut this call, because it is longer than an event may be.</p>`:S}
      <h4>Input</h4>
      ${H(e)}
      ${n===null?S:_`<h4>Output</h4>${V(t)}`}
    </div>`}};customElements.define(`bridge-call`,ra);function ia(e,t){let{axis:n,isRunning:r,shown:i,growing:a,isForced:o,context:s}=t,c=aa(q(e)-n.start),u=_`<span class="offset">${c}</span>`;switch(e.kind){case`text`:return e.isDiscarded?_`${u}<p class="hint">The runtime discarded ${e.text.length} characters of text.</p>`:i!==null&&e.text.trim()===i.text?_`${u}<p class="hint">${i.note}</p>`:_`${u}
        <div class="answer">${ci(e.text,{level:4,isComplete:!r||e!==a})}</div>`;case`progress`:return _`${u}<p class="progress">${l(Sn(e.data))}</p>`;case`group`:return e.entries.length===1?_`${u}<p class="progress">${l(Sn(e.entries[0]?.data??{}))}</p>`:_`${u}<details class="progress">
          <summary>${l(wn(e))}</summary>
          <ul>${e.entries.map(({data:e})=>_`<li>${l(Sn(e))}</li>`)}</ul>
        </details>`;case`child`:return _`${u}${oa(e.task,t)}`;case`tool`:return _`<bridge-call
          .call=${e} .offset=${c} .axis=${n} .now=${pn(e)?t.now:0} .isRunning=${r}
          .revision=${`${e.completedAt}${e.isTruncated}`} .isForced=${o}
        ></bridge-call>
        ${sa(e,s,t)}`}}function aa(e){let t=Math.max(0,e)/1e3;if(t<10)return`+${t.toFixed(1)} s`;let n=e=>String(Math.floor(e)).padStart(2,`0`),[r,i]=[Math.floor(t/3600),Math.floor(t%3600/60)];return r===0?`+${i}:${n(t%60)}`:`+${r}:${n(i)}:${n(t%60)}`}function oa(e,{axis:t,now:n}){let{name:r,detail:i}=En(e),a=q({kind:`child`,task:e}),o=e.finishedAt===null?n:Date.parse(e.finishedAt),s=e.startedAt===null?`not started`:h(o-a);return _`<span class="line" title="${l(r)} ${l(i)}"
      >${e.state===`completed`?`↳`:j(O(e,n))} <a href=${E(e.taskId)}>${l(r)}</a> <span class="detail">${l(i)}</span></span
    >
    ${Zi(t,a,e.startedAt===null?a:o,{label:`Child task: ${s}`,kind:e.state===`failed`?`failed`:`child`})}
    <span class="time">${s}</span>`}function sa(e,t,{isRunning:n,now:r}){let{approval:i}=e;return i===null?S:i.decision===null?n?_`<div class="waiting">
    <p>${A(`approval`,`!`,`needs approval`)} ${Vt(i.expiresAt,r)}</p>
    <bridge-decision
      .approvalId=${i.approvalId} .input=${e.input} .isOver=${me(i,r)} .expiresAt=${i.expiresAt}
      .context=${t}
    ></bridge-decision>
  </div>`:S:_`<p class="hint decided">
      ${i.decision===`approve`?`Approved`:`Rejected`} by ${i.by}${i.reason===null?``:`: ${l(i.reason)}`}
    </p>`}var ca=class extends v{static properties={timeline:{attribute:!1},task:{attribute:!1},childTasks:{attribute:!1},context:{attribute:!1},now:{attribute:!1},count:{attribute:!1},shown:{attribute:!1}};#e=`all`;#t=null;#n=null;#r=100;#i=!1;#a=null;#o=!1;updated(e){let{marked:t}=this.timeline;if(t===null||this.#o)return;let n=this.querySelector(`.marked`);if(n!==null){this.#o=!0,n.scrollIntoView({block:`center`});return}let r=this.#s().findIndex(e=>fn(e,t));r!==-1&&this.#c(r)}#s(){let{entryCount:e,turns:t}=this.timeline;return(this.#a?.entryCount!==e||this.#a.childTasks!==this.childTasks)&&(this.#a={entryCount:e,childTasks:this.childTasks,rows:ln(t,this.childTasks)}),this.#a.rows}#c(e){this.#n=Math.max(0,e-5),this.#r=100,this.requestUpdate()}#l(e){return()=>{e(),this.requestUpdate()}}#u(){let{startedAt:e,createdAt:t,finishedAt:n}=this.task,r=Date.parse(e??t);return{start:r,length:gn((n===null?this.now:Date.parse(n))-r,{isRunning:!T(this.task)})}}render(){let e=this.#s(),t=!T(this.task);if(e.length===0)return _`<p class="empty">No text and no tool calls${t?` yet`:``}.</p>`;let n=this.#u(),r=this.#t??(t?`newest`:`oldest`),i=this.#e===`all`?e:e.filter(({entry:e})=>cn[this.#e](e)),a=r===`longest`?dn(i,t?this.now:null):i,o=r===`newest`,s=this.#n??(o?Math.max(0,a.length-this.#r):0),c=this.#n===null&&o?a.length:Math.min(a.length,s+this.#r),[l,u]=r===`longest`?[`longer`,`shorter`]:[`earlier`,`later`],d=s===0?S:this.#p(l,s,()=>this.#f(s)),f=c===a.length?S:this.#p(u,a.length-c,()=>this.#d(s));return _`
      ${this.#m(e,r)}
      ${a.length<40||r===`longest`?S:Ut([fa(a.length),n.length,this.#e,s],()=>$i(a,n,{at:s,onMove:e=>this.#c(e)}))}
      ${o?f:d}
      ${a.length===0?_`<p class="empty">Nothing in the timeline matches.</p>`:this.#h(a.slice(s,c),n,r)}
      ${o?d:f}
    `}#d(e){this.#n=e,this.#r+=100}#f(e){let t=Math.min(100,e);this.#n!==null&&(this.#n=e-t),this.#r+=t}#p(e,t,n){return _`<button class="plain" @click=${this.#l(n)}>Show ${Math.min(100,t)} ${e} entries (${t} left)</button>`}#m(e,t){let n=e=>this.#l(()=>{this.#e=e,this.#n=null,this.#r=100});return _`<div class="timeline-tools">
      <div role="group" aria-label="Entries">
        ${Object.keys(cn).map(t=>{let r=e.filter(({entry:e})=>cn[t](e)).length;return _`<button aria-pressed=${t===this.#e} @click=${n(t)}>${la[t]} <span class="detail">${r}</span></button>`})}
      </div>
      <button aria-pressed=${this.#i} @click=${this.#l(()=>{this.#i=!this.#i})}>Open all</button>
      <select aria-label="Order" @change=${e=>{this.#t=e.target.value,this.#n=null,this.requestUpdate()}}>
        ${Object.keys(ua).map(e=>_`<option value=${e} ?selected=${e===t}>${ua[e]}</option>`)}
      </select>
    </div>`}#h(e,t,n){let r=!T(this.task),{timeline:i,now:a,shown:o,context:s}=this,c=n===`longest`?e.map(({turn:e,entry:t})=>({turn:e,entries:[t]})):pa(e),l={axis:t,now:a,isRunning:r,shown:o,growing:i.turns.at(-1)?.entries.at(-1),isForced:this.#i,context:s};return _`<div class="timeline-panel">
      ${Ut([t.length],()=>Qi(t))}
      <ol class="timeline">
        ${L(n===`newest`?c.toReversed():c,e=>ma(e,n),({turn:e,entries:s})=>{let c=r&&s.some(pn)?a:Math.floor(a/6e4),u=s.map(e=>e.kind===`child`?`${e.task.taskId} ${e.task.state}`:``).join(),d=e===i.turns.at(-1),f=[e,e?.revision,s.length,s[0],u,r,d,c,t.length,i.marked,this.#i,n,o?.text];return _`<li>${Ut(f,()=>this.#g(e,n===`newest`?s.toReversed():s,l))}</li>`})}
      </ol>
    </div>`}#g(e,t,n){let{marked:r}=this.timeline,i=e!==null&&da(e),a=t=>r!==null&&fn({turn:e,entry:t},r);return _`${i?_`<h3 title=${oe(e.startedAt,n.now)}>Turn ${e.number}</h3>`:_`<span></span>`}
      <div class="entries">
        ${t.map(e=>_`<div class="entry ${e.kind} ${a(e)?`marked`:``}">${ia(e,n)}</div>`)}
      </div>`}};const la={all:`All`,errors:`Errors`,tools:`Tools`,text:`Text`},ua={oldest:`Oldest first`,newest:`Newest first`,longest:`Longest first`},da=({entries:e})=>e.some(({kind:e})=>e!==`progress`),fa=e=>Math.floor(Math.log(e)/Math.log(1.02));function pa(e){let t=[];for(let{turn:n,entry:r}of e){let e=t.at(-1);e!==void 0&&e.turn===n?e.entries.push(r):t.push({turn:n,entries:[r]})}return t}function ma({turn:e,entries:[t]},n){return t?.kind===`child`&&(n===`longest`||e===null)?`child ${t.task.taskId}`:n===`longest`?t:e?.number??`start`}customElements.define(`bridge-timeline`,ca);const ha=({timeline:e,task:t,childTasks:n,shown:r,context:i,now:a})=>_`<bridge-timeline
    .timeline=${e} .count=${e.count} .task=${t} .childTasks=${n} .shown=${r} .context=${i} .now=${a}
  ></bridge-timeline>`,ga=86400,_a=new Map(Object.entries({model_error:`model`,output_limit:`message`,output_invalid:`message`,max_turns:`message`,budget_exceeded:`message`}));function va(e,t){let{errorCode:n,taskId:r}=e;if(n===`timeout`){let n=ya(e,Number(t.timeoutSeconds||NaN));return n===null?{field:`timeoutSeconds`,reason:`${r} has reached this limit, which is the longest one.`}:{field:`timeoutSeconds`,value:String(n),reason:`${n<ga?`Twice as long as before`:`The longest limit`}, because ${r} ran into its time limit.`}}let i=n===`output_invalid`&&t.output===`structured`?`outputSchema`:_a.get(n??``);return i===void 0||n===null?null:{field:i,reason:`${r} failed with ${n}. ${At(n)?.advice.replaceAll("`",``)??``}`}}function ya({startedAt:e,finishedAt:t},n){let r=e===null||t===null?0:Math.round((Date.parse(t)-Date.parse(e))/1e3),i=Number.isNaN(n)?60*Math.max(1,Math.ceil(r/60)):n;return i>=ga?null:Math.min(ga,2*i)}function ba(e=null){let t=[],n=/* @__PURE__ */ new Map,r=/* @__PURE__ */ new WeakMap,i=0,a=0,o,s=null,c=0,l=null,u=e=>i===0&&e.entries.some(({kind:e})=>e===`tool`);function d(e,{isModel:n}){let r=t.at(-1);if(r!==void 0&&!(n&&u(r)))return r;let i={number:t.length+1,startedAt:e,entries:[],revision:0};return t.push(i),i}function f(e,t){return e.entries.push(t),r.set(t,e),a+=1,t}function p(e,t){let n=d(e,{isModel:!0}),r=n.entries.at(-1);return r?.kind===`text`&&!r.isDiscarded?Object.assign(r,{text:r.text+t}):f(n,{kind:`text`,at:e,text:t,isDiscarded:!1})}function m(e,{toolCallId:t,toolName:r,input:a}){let o=n.get(t);if(o!==void 0)return o;let s=f(d(e,{isModel:!0}),xa(e,{toolCallId:t,toolName:r,input:a}));return n.set(t,s),i+=1,s}function h(e,t){let n=m(e,{...t,input:null});return n.completedAt===null&&--i,Object.assign(n,{completedAt:e,output:t.output,isError:t.isError})}function g(e){let{timestamp:r}=e;switch(e.type){case`assistant.text`:return p(r,e.data.content);case`assistant.text_discarded`:return Sa(t),null;case`tool.invoked`:{let t=m(r,e.data);return t.isTruncated||=e.data.truncated===!0,t}case`tool.completed`:{let t=h(r,e.data);return t.isTruncated||=e.data.truncated===!0,t}case`tool.approval_requested`:{let{approvalId:t,expiresAt:n}=e.data;return Object.assign(m(r,e.data),{approval:{approvalId:t,expiresAt:n,decision:null,by:null,reason:null}})}case`tool.approval_resolved`:{let{toolCallId:t,decision:r,by:i,reason:a}=e.data,o=n.get(t);return o?.approval!=null&&Object.assign(o.approval,{decision:r,by:i,reason:a}),o??null}case`execution.progress`:return f(d(r,{isModel:!1}),{kind:`progress`,at:r,data:e.data});default:return null}}return{turns:t,get marked(){return l},get lastEventId(){return o},get lastEventAt(){return s},get entryCount(){return a},get count(){return c},add(t){o=t.id,s=t.timestamp,c+=1;let n=g(t);n!==null&&(r.get(n).revision+=1),t.id===e&&(l=n)}}}const xa=(e,t)=>({kind:`tool`,...t,invokedAt:e,completedAt:null,output:null,isError:!1,isTruncated:!1,approval:null});function Sa(e){for(let t of e.toReversed())for(let e of t.entries.toReversed()){if(e.kind===`tool`)return;e.kind===`text`&&(e.isDiscarded=!0,t.revision+=1)}}var Ca=class extends he{#e=ba();#t=!1;#n=null;#r=!1;#i=!1;#a=null;#o=``;#s=null;#c;#l=()=>{};#u;#d=B(this,e=>this.#p(e),{intervalMs:()=>this.#f()?6e4:jt});connectedCallback(){super.connectedCallback(),this.#c=setInterval(()=>this.requestUpdate(),1e3),this.#l=this.context.feed.subscribe(e=>{(e?.some(({taskId:e})=>e===this.route.id)??!0)&&this.#d.refresh()}),this.#e=ba(this.route.query.get(`event`)),this.#r=!1,this.#n=new AbortController,this.#m(this.#n.signal)}disconnectedCallback(){super.disconnectedCallback(),clearInterval(this.#c),this.#l(),this.#n?.abort()}get paintGapMs(){return this.#d.value===void 0?0:100}#f(){let e=this.#d.value?.task;return e!==void 0&&T(e)&&e.callback?.state!==`pending`}async#p(e){let t=this.#u===void 0;this.#u??=ei(this.context.api,this.route.id);let r=await this.#u(e);return t&&(this.dispatchEvent(new CustomEvent(n,{detail:l(r.task.title??r.task.taskId),bubbles:!0})),this.#i=T(r.task)),r}async#m(e){let t=()=>{this.#t=!0};try{for await(let n of this.context.feed.followTask(this.route.id,{signal:e,onGap:t}))this.#e.add(n),this.requestUpdate();let n=this.#d.value?.task;n!==void 0&&!T(n)&&this.#d.refresh()}catch(t){e.aborted||(this.#a=t)}this.#r=!0,this.requestUpdate()}async#h(e,t){this.#s=null,this.#o=await e().then(()=>t,e=>e instanceof I?e.message:String(e)),this.#d.refresh(),this.requestUpdate()}#g(e=``){return`/api/v2/tasks/${encodeURIComponent(this.route.id)}${e}`}#_(e){e===`cancel`?this.#h(()=>this.context.api.call(this.#g(`/cancel`),{method:`POST`}),`Cancellation requested. The task ends when its runtime has stopped.`):this.#h(async()=>{await this.context.api.call(this.#g(),{method:`DELETE`}),k(M(`tasks`))},`Deleted.`)}#v({request:e}){return{mayDispatch:this.#S(),question:this.#s,ask:e=>{this.#s=e,this.requestUpdate()},confirm:e=>this.#_(e),runAgain:()=>this.#y(e,{}),redeliver:()=>{let e=`/api/v2/callbacks/${encodeURIComponent(this.route.id)}/redeliver`;this.#h(()=>this.context.api.call(e,{method:`POST`}),`Redelivery started.`)},copy:(e,t)=>void this.#C(e,t),togglePlainText:()=>{Q.toggle(),this.requestUpdate()}}}#y({message:e,fields:t,isMasked:n},r){if(n){k(M(`new?from=${encodeURIComponent(this.route.id)}`));return}let{taskId:i,...a}=t,o={...a,...e!==void 0&&{message:e},...r};this.#h(async()=>{let{taskId:e}=await this.context.api.call(`/api/v2/dispatch`,{method:`POST`,body:o});k(E(e))},``)}async#b({path:e}){let t=e.split(`/`).map(encodeURIComponent).join(`/`);try{It(await this.context.api.download(this.#g(`/files/${t}`)),e.split(`/`).at(-1)??`file`)}catch(e){this.#o=e instanceof I?e.message:String(e),this.requestUpdate()}}render(){let{value:e,error:t}=this.#d;if(t?.status===404)return this.#T();if(e===void 0)return _`<h1>${l(this.route.id)}</h1>${t===null?_`<p role="status">Loading …</p>`:D(t)}`;let{task:n,request:r,children:i}=e,a=F(),o=tn(n,i),s=this.#w(n);return _`
      ${Vi(n,O(s,a),this.#v(e),a)} ${D(t)}
      ${this.#o===``?S:_`<p class="note info" role="status">${l(this.#o)}</p>`}
      <div class="task-layout">
        <div class="task-main">
          ${Ii(n,{mayDispatch:this.#S(),longerLimit:r.isMasked?null:ya(n,Number(r.fields.timeoutSeconds)),runAgain:e=>this.#y(r,e)})}
          ${wa(s,e.ahead,a)} ${o===null?S:mi(o,this.context,a)}
          ${qi(n,this.#e,{isFolded:o!==null&&o.findings.length>0})} ${Xi(r)}
        </div>
        <aside aria-label="Details">${Fi(n,a)}</aside>
      </div>
      ${this.#x(n,i,a)}
      ${e.callback===null?S:ti(e.callback,a)}
      ${zi(e.files,e=>void this.#b(e))}
      ${n.startedAt===null?S:Mi(n.taskId,this.context)}
    `}#x(e,t,n){return _`<section aria-labelledby="timeline">
      <h2 id="timeline">Timeline <span class="hint">${this.#e.count} events</span></h2>
      ${this.#t?_`<p class="note warning">Earlier events of this task have been deleted.</p>`:S}
      ${this.#a===null||this.#d.error!==null?S:_`<p class="note error" role="alert">The events cannot be read: ${String(this.#a)}</p>`}
      ${this.#i&&!this.#r?_`<p role="status">Loading …</p>`:ha({timeline:this.#e,task:e,childTasks:t,shown:Ki(e),context:this.context,now:n})}
    </section>`}#S(){return this.context.identity.scopes.includes(`dispatch`)}async#C(e,t){this.#o=await mr(e)??`Copied the ${t}.`,this.requestUpdate()}#w(e){let{lastEventAt:t}=this.#e;return t!==null&&t>(e.lastProgressAt??``)?{...e,lastProgressAt:t,waitingOn:e.waitingOn===`runtime`?null:e.waitingOn}:e}#T(){return _`<h1>${l(this.route.id)}</h1>
      <p class="note warning">
        There is no such task. It never existed, belongs to another tenant, was deleted, or ended longer ago than Bridge keeps tasks
        (<code>BRIDGE_RETENTION_DAYS</code>).
      </p>
      <p><a href=${M(`tasks`)}>All tasks</a></p>`}};function wa(e,t,n){switch(O(e,n)){case`queued`:return _`<p class="note info">
        The task ${ae(e)||`is queued`}. Your tasks for this adapter that were queued before it: ${t??`?`}.
      </p>`;case`approval`:return _`<p class="note warning">A tool call waits for your decision, in the timeline.</p>`;case`silent`:{let t=e.lastProgressAt??e.startedAt;return _`<p class="note warning">No event for ${t===null?`?`:h(n-Date.parse(t))}.</p>`}default:return S}}customElements.define(`bridge-task`,Ca);
/**
* @license
* Copyright 2018 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/const Ta=de(class extends u{constructor(e){if(super(e),e.type!==C.ATTRIBUTE||e.name!==`class`||e.strings?.length>2)throw Error("`classMap()` can only be used in the `class` attribute and must be the only part in the attribute.")}render(e){return` `+Object.keys(e).filter(t=>e[t]).join(` `)+` `}update(e,[t]){if(this.st===void 0){this.st=/* @__PURE__ */ new Set,e.strings!==void 0&&(this.nt=new Set(e.strings.join(` `).split(/\s/).filter(e=>e!==``)));for(let e in t)t[e]&&!this.nt?.has(e)&&this.st.add(e);return this.render(t)}let n=e.element.classList;for(let e of this.st)e in t||(n.remove(e),this.st.delete(e));for(let e in t){let r=!!t[e];r===this.st.has(e)||this.nt?.has(e)||(r?(n.add(e),this.st.add(e)):(n.remove(e),this.st.delete(e)))}return w}});function Ea(e,t,n){let r=new Set(t),i=[...e].filter(([e])=>!r.has(e)).map(([,e])=>e),a=n&&2*i.length>=e.size?i:[],o=Math.max(-1,...e.values())+1,s=()=>(o+=1,o-1);return new Map(t.map(t=>[t,e.get(t)??a.shift()??s()]))}function Da(){let e=/* @__PURE__ */ new Map,t=[],n=/* @__PURE__ */ new Map,r=null,i=[],a=0,o=[];function s(){let e=a;return o.push(e),e}function c(e){o.splice(o.indexOf(e),1);for(let{number:t,event:n}of i)t>=e&&l(n);let t=Math.min(...o,a);i=i.filter(({number:e})=>e>=t)}function l(t){let n=e.get(t.taskId);n!==void 0&&e.set(t.taskId,ka(n,t))}function u(){return r??=Oa(t,n),r}return{list:(t,n)=>u().slice(t,n).map(({id:t})=>e.get(t)),levelAt:e=>u()[e]?.level??0,get length(){return u().length},get opened(){return[...n.keys()]},isOpen:e=>n.has(e),showChildren(t,i,a){for(let t of a)e.set(t.taskId,t);n.set(i,a.map(e=>e.taskId)),r=null,c(t)},hideChildren(e){n.delete(e),r=null},begin:s,abandon:c,applyFirst(i,a,o){let s=new Set(a.map(({taskId:e})=>e)),l=a.at(-1)?.createdAt??``,u=o?t.filter(t=>!s.has(t)&&(e.get(t)?.createdAt??``)<=l):[],d=new Set(u),f=new Set([...n.values()].flat());for(let n of t)s.has(n)||d.has(n)||f.has(n)||e.delete(n);for(let t of a)e.set(t.taskId,t);t=[...s,...u];for(let t of n.keys())e.has(t)||n.delete(t);r=null,c(i)},append(n,i){let a=new Set(t);t=[...t,...i.filter(({taskId:e})=>!a.has(e)).map(({taskId:e})=>e)];for(let t of i)e.set(t.taskId,t);r=null,c(n)},patch(t){let n=!1;for(let r of t)o.length>0&&i.push({number:a,event:r}),a+=1,n||=!e.has(r.taskId),l(r);return n}}}function Oa(e,t){let n=[],r=new Set([...t.values()].flat()),i=(e,r)=>{n.push({id:e,level:r});for(let n of t.get(e)??[])i(n,r+1)};for(let t of e)r.has(t)||i(t,0);return n}function ka(e,{type:t,timestamp:n,errorCode:r}){let i=e.state===`queued`||e.state===`running`;switch(t){case`execution.started`:return e.state===`queued`?{...e,state:`running`,startedAt:n,lastProgressAt:n,waitingOn:null,queuedBecause:null}:e;case`execution.completed`:return i?{...e,state:`completed`,finishedAt:n,waitingOn:null,queuedBecause:null}:e;case`execution.failed`:return i?{...e,state:r===`cancelled`?`cancelled`:`failed`,errorCode:r,finishedAt:n,waitingOn:null,queuedBecause:null}:e;case`tool.approval_requested`:return e.state===`running`?{...e,waitingOn:`approval`,lastProgressAt:n}:e;case`tool.approval_resolved`:return e.state===`running`?{...e,waitingOn:null,lastProgressAt:n}:e;case`callback.delivered`:return e.callback===null?e:{...e,callback:{...e.callback,state:`delivered`}};case`callback.dead`:return e.callback===null?e:{...e,callback:{...e.callback,state:`dead`}};default:return e}}function Aa(){return Object.entries(Nr).map(([e,{name:t}])=>[e,t])}const ja=[{name:`errorCode`,label:`Error code`,values:null,example:`timeout`},{name:`callback`,label:`Callback`,values:[`pending`,`delivered`,`dead`]},{name:`waitingOn`,label:`Waits for`,values:[[`approval`,`an approval`]]},{name:`children`,label:`Child tasks`,values:[[`all`,`as separate rows`]],none:`in the row of their parent`},{name:`parentTaskId`,label:`Parent task`,values:null,example:`id`},{name:`idPrefix`,label:`Id starts with`,values:null},{name:`q`,label:`Title contains`,values:null},{name:`createdAfter`,label:`Created after`,values:`time`},{name:`createdBefore`,label:`Created before`,values:`time`},{name:`finished`,label:`Ended`,values:Aa()},{name:`finishedAfter`,label:`Ended after`,values:`time`},{name:`finishedBefore`,label:`Ended before`,values:`time`}];var Ma=class extends v{static properties={context:{attribute:!1},query:{attribute:!1},inRow:{attribute:!1},onQuery:{attribute:!1}};#e=``;#t=null;#n;disconnectedCallback(){super.disconnectedCallback(),clearTimeout(this.#n)}willUpdate(e){if(!e.has(`query`))return;let t=this.query.get(`search`)??``;t!==this.#e.trim()&&(clearTimeout(this.#n),this.#e=t)}focus(){this.querySelector(`input[type=search]`)?.focus()}#r(e){this.#e=e.target.value,clearTimeout(this.#n),this.#n=setTimeout(()=>this.#i(`search`,this.#e.trim()),200)}#i(e,t){let n=new URLSearchParams(this.query);clearTimeout(this.#n),this.#e.trim()===``?n.delete(`search`):n.set(`search`,this.#e.trim()),t===``?n.delete(e):n.set(e,t),X(n)!==X(this.query)&&this.onQuery(n)}async#a(){if(this.#t!==null)return;this.#t=[];let e=await this.context.api.list(`/api/v2/agents`,{limit:200}).catch(()=>null);this.#t=e?.data.map(({agentId:e})=>e)??null,this.requestUpdate()}#o(){return[{name:`state`,label:`State`,values:[`queued`,`running`,`completed`,`failed`,[`cancelled`,`canceled`]]},{name:`provider`,label:`Adapter`,values:this.context.attention.state.adapters.map(({provider:e})=>e)},{name:`agentId`,label:`Agent`,values:null,list:`filter-agents`},{name:`label`,label:`Label`,values:null,example:`name=value`},{name:`created`,label:`Created`,values:Aa()}]}render(){let e=this.#o(),t=[...e.slice(this.inRow),...ja];return _`<search class="task-filters">
      <label class="search-box"
        >${U(Le)}<span class="visually-hidden">Search</span>
        <input
          type="search" .value=${this.#e} maxlength=${200} placeholder="Search by id, title, agent or label" spellcheck="false"
          autocomplete="off" @input=${this.#r}
        /></label>
      ${e.slice(0,this.inRow).map(e=>this.#c(e,!0))}
      ${this.#s(t)}
      ${X(this.query)===``?S:_`<a class="button plain clear" href=${M(`tasks`)}>Clear</a>`}
      <datalist id="filter-agents">${(this.#t??[]).map(e=>_`<option value=${e}></option>`)}</datalist>
    </search>`}#s(e){let t=e.filter(({name:e})=>this.query.has(e)).length;return _`<details class="menu" @focusout=${e=>{let t=e.currentTarget;t.contains(e.relatedTarget)||(t.open=!1)}} @keydown=${e=>{if(e.key!==`Escape`)return;let t=e.currentTarget;t.open=!1,t.querySelector(`summary`)?.focus()}}>
      <summary>${U(je)} ${this.inRow===0?`Filters`:`More filters`} ${t===0?S:_`<span class="count">${t}</span>`}</summary>
      <div class="filter-panel" tabindex="-1">${e.map(e=>this.#c(e,!1))}</div>
    </details>`}#c({name:e,label:t,values:n,none:r=`any`,example:i,list:a},o){let s=this.query.get(e)??``,c=t=>this.#i(e,t.target.value.trim()),l=o?S:_`<span>${t}</span>`,u=s===``?``:`used`;if(n===`time`)return _`<label>${l} <input type="datetime-local" aria-label=${t} class=${u} .value=${f(s)} @change=${t=>this.#i(e,g(t.target.value))} /></label>`;if(n===null)return _`<label
        >${l}
        <input
          aria-label=${t} class=${u} .value=${s} @change=${c} @focus=${a===void 0?S:()=>this.#a()}
          list=${a??S} placeholder=${o?t:i??S} title=${i??S}
          spellcheck="false" autocomplete="off"
      /></label>`;let d=n.map(e=>typeof e==`string`?[e,e]:e),p=s===``||d.some(([e])=>e===s);return _`<label
      >${l}
      <select aria-label=${t} class=${u} @change=${c}>
        <option value="" ?selected=${s===``}>${o?t:r}</option>
        ${(p?d:[...d,[s,s]]).map(([e,t])=>_`<option value=${e} ?selected=${e===s}>${t}</option>`)}
      </select></label
    >`}};customElements.define(`bridge-task-filters`,Ma);const Na=[{name:`Select`,kind:`select`},{name:`State`,kind:`state`},{name:`Task`,kind:`name`},{name:`Id`,kind:`id`},{name:`Agent`,kind:`agent`},{name:`Adapter`,kind:`provider`},{name:`Started`,kind:`started number`},{name:`Duration`,kind:`duration number`},{name:`Last event`,kind:`last number`},{name:`Cost`,kind:`cost number`},{name:`Callback`,kind:`delivery`}],Pa=(e,t,{isListedAlone:n,children:r})=>_`
  <span role="cell" class="state">${j(O(e,t))}</span>
  <span role="cell" class="name"
    ><a href=${E(e.taskId)} title=${e.title===null?e.taskId:S}
      ><span class="lead"><span class="title">${l(e.title??e.taskId)}</span><span class="detail">${ce(e)}</span></span>
      ${e.title===null?S:_`<span class="detail own-id">${e.taskId}</span>`}</a
    >${Fa(e,n)}${r}${Ia(e)}</span
  >
  <span role="cell" class="id" title=${e.taskId}>${e.taskId}</span>
  <span role="cell" class="agent" title=${e.agentId}>${e.agentId}</span>
  <span role="cell" class="provider" title=${e.provider}>${e.provider}</span>
  <span role="cell" class="started number">${N(e.startedAt??e.createdAt,t)}</span>
  <span role="cell" class="duration number">${La(e,t)}</span>
  <span role="cell" class="last number">${N(e.lastProgressAt,t)}</span>
  <span role="cell" class="cost number">${T(e)?a(e.costUsd):S}</span>
  <span role="cell" class="delivery">${pe(e.callback)}</span>
`;function Fa({parentTaskId:e},t){return e===null||!t?S:_`<a class="chip parent" href=${E(e)}>↳ of ${e}</a>`}function Ia({labels:e}){let t=Object.entries(e);if(t.length===0)return S;let n=t.map(([e,t])=>`${e}=${t}`);return _`<span class="labels"
    >${n.map(e=>_`<a class="chip" href=${M(`tasks?${new URLSearchParams({label:e})}`)}>${l(e)}</a>`)}</span
  >`}function La({startedAt:e,finishedAt:n,state:r},i){if(e===null||n===null&&r!==`running`)return S;let a=Date.parse(e);return t(n===null?i-a:Date.parse(n)-a)}var Ra=class extends v{static properties={context:{attribute:!1},query:{attribute:!1}};#e=!1;#t(){return kr(localStorage,this.context.identity.tenant)}#n(e){this.#e=e,this.requestUpdate(),this.updateComplete.then(()=>this.querySelector(e?`.view-name`:`.save-view, [aria-current]`)?.focus())}#r(e){e.preventDefault();let t=this.querySelector(`.view-name`)?.value.trim()??``;t!==``&&(this.#t().save({name:t,query:X(this.query)}),this.#n(!1))}#i(e){this.#t().remove(e),this.#n(!1)}render(){let e=X(this.query),t=this.#t().list(),n=![...Or,...t].some(t=>t.query===e);return _`<div class="views">
      <nav class="tabs" aria-label="Views">
        ${[...Or,...t].map(t=>za(t,e))}
      </nav>
      ${this.#e?this.#a():n?_`<button class="plain save-view" @click=${()=>this.#n(!0)}>${U(xe)} Save this view</button>`:t.filter(t=>t.query===e).map(({name:e})=>_`<button class="plain" @click=${()=>this.#i(e)}>${U(ze)} Remove this view</button>`)}
    </div>`}#a(){return _`<form class="name-view" @submit=${this.#r} @keydown=${e=>{e.key===`Escape`&&this.#n(!1)}}>
      <input class="view-name" aria-label="Name of the view" placeholder="Name of the view" maxlength=${40} autocomplete="off" required />
      <button class="primary" type="submit">Save</button>
      <button type="button" class="plain" @click=${()=>this.#n(!1)}>Cancel</button>
    </form>`}};const za=(e,t)=>_`<a
  class="tab" href=${M(e.query===``?`tasks`:`tasks?${e.query}`)} aria-current=${e.query===t?`true`:S}
  >${e.name}</a
>`;customElements.define(`bridge-task-views`,Ra);const Ba={least:6,most:40},Va={from:1e3,width:280},Ha={without:540,filter:128},Ua=matchMedia(`(max-width: 760px)`);var Wa=class extends he{#e=Da();#t=!1;#n=!1;#r=null;#i={first:0,last:0};#a=/* @__PURE__ */ new Map;#o=/* @__PURE__ */ new Set;#s=-1;#c=!1;#l=``;#u=null;#d;#f;#p=()=>{};#m=0;#h=Ba.least;#g=!1;#_=B(this,e=>this.#C(e));#v=!1;#y=()=>{this.#v=!0,this.requestUpdate()};get paintGapMs(){return this.#v?0:100}connectedCallback(){super.connectedCallback(),addEventListener(`scroll`,this.#y,{passive:!0}),addEventListener(`resize`,this.#y),this.#f=setInterval(()=>this.#b(),1e3),this.#p=this.context.feed.subscribe(e=>{if(e===null)return this.#_.refresh();this.#e.patch(e)&&(this.#d??=setTimeout(()=>this.#x(),500)),this.requestUpdate()})}disconnectedCallback(){super.disconnectedCallback(),removeEventListener(`scroll`,this.#y),removeEventListener(`resize`,this.#y),clearTimeout(this.#d),clearInterval(this.#f),this.#p()}#b(){let{first:e,last:t}=this.#i;this.#e.list(e,t).some(({state:e})=>e===`running`)&&this.requestUpdate()}willUpdate(e){let t=e.get(`route`);t!==void 0&&t.query.toString()!==this.route.query.toString()&&(this.#e=Da(),this.#m+=1,this.#g=!1,this.#r=null,this.#t=!1,this.#o.clear(),this.#s=-1,this.#h=Ba.least,this.#_.refresh())}#x(){this.#d=void 0,this.#_.refresh()}#S(){return Lr(this.route.query,F())}async#C(e){let t=this.#e,n=this.#m,r=t.begin();try{let i=await this.context.api.list(`/api/v2/tasks`,{...this.#S(),limit:100},{signal:e}),a=t.length===0;return t.applyFirst(r,i.data,i.meta.nextCursor!==null),await Promise.all(t.opened.map(t=>this.#w(t,e))),this.#g||=n===this.#m,n===this.#m&&(a||this.#r===null||t.length<=i.data.length)&&(this.#r=i.meta.nextCursor,this.#t=i.meta.nextCursor!==null),!0}catch(e){throw t.abandon(r),e}}async#w(e,t){let n=this.#e,r=n.begin(),i={pages:5,pageLength:200,signal:t};try{let{data:t}=await Nn(this.context.api,`/api/v2/tasks`,{parentTaskId:e},i);n.showChildren(r,e,t.toReversed())}catch(e){throw n.abandon(r),e}}#T(e){this.#e.isOpen(e)?this.#e.hideChildren(e):this.#w(e,new AbortController().signal).catch(e=>{this.#u=e instanceof I?e:null}).finally(()=>this.requestUpdate()),this.requestUpdate()}async#E(){if(this.#n||this.#r===null)return;this.#n=!0;let e=this.#e,t=e.begin();try{let n={...this.#S(),limit:200,cursor:this.#r},r=await this.context.api.list(`/api/v2/tasks`,n);e.append(t,r.data),e===this.#e&&(this.#r=r.meta.nextCursor,this.#t=this.#r!==null)}catch(n){e.abandon(t),this.#u=n instanceof I?n:null}finally{this.#n=!1,this.requestUpdate()}}#D=e=>{let t=e.toString();k(M(t===``?`tasks`:`tasks?${t}`),{replace:!0})};onKey(e){let{length:t}=this.#e;if(e===`/`)return this.querySelector(`bridge-task-filters`)?.focus(),!0;if((e===`j`||e===`k`)&&t>0)return this.#s=Math.min(t-1,Math.max(0,this.#s+(e===`j`?1:-1))),this.#O(),!0;let[n]=this.#e.list(this.#s,this.#s+1);return e===`x`&&n!==void 0&&(this.#k(n.taskId),!0)}async#O(){let e=this.querySelector(`.window`);if(e===null)return;let t=Ka(),n=e.getBoundingClientRect().top+this.#s*t;n<0?scrollBy(0,n-t):n+t>innerHeight&&scrollBy(0,n+2*t-innerHeight),this.requestUpdate(),await this.updateComplete,this.querySelector(`[data-index="${this.#s}"] a`)?.focus({preventScroll:!0})}#k(e){this.#o.delete(e)||this.#o.add(e),this.#c=!1,this.requestUpdate()}async#A(){let e=[...this.#o];this.#c=!1,this.#l=`Canceling ${e.length} …`,this.requestUpdate();let t=[],n=async()=>{for(let n=e.pop();n!==void 0;n=e.pop()){let e=`/api/v2/tasks/${encodeURIComponent(n)}/cancel`,r=n;await this.context.api.call(e,{method:`POST`}).catch(e=>t.push(`${r}: ${String(e)}`))}},r=e.length;await Promise.all(Array.from({length:4},n)),this.#o.clear(),this.#l=t.length===0?`Cancellation requested for ${r} tasks.`:t.join(`; `),this.#_.refresh(),this.requestUpdate()}updated(){this.#v=!1;let e=this.querySelector(`.window`),t=this.querySelector(`.visible`);if(e===null||t===null)return;let n=`${this.#e.length*Ka()}px`;e.style.height!==n&&(e.style.height=n),t.style.transform=`translateY(${this.#i.first*Ka()}px)`,this.#j(),this.#t&&this.#i.last+60>this.#e.length&&this.#E()}#j(){let{first:e,last:t}=this.#i,n=Math.max(this.#h,...this.#e.list(e,t).map(({taskId:e})=>e.length)),r=this.querySelector(`[role=table]`),[i,a]=[`name`,`id`].map(e=>this.querySelector(`.heading > .${e}`)?.getBoundingClientRect().width??0);if(r===null||i===void 0||a===void 0)return;this.#h=Math.min(n,Ba.most),r.style.setProperty(`--id-length`,String(this.#h));let o=this.querySelector(`.id-probe`)?.getBoundingClientRect().width??0,s=i+a-o>=260;r.classList.toggle(`with-ids`,s),r.style.setProperty(`--id-track`,s?`${o}px`:``)}#M(){let e=this.querySelector(`.window`)?.getBoundingClientRect().top??0,t=Math.max(0,Math.floor(-e/Ka())-4);return{first:t,last:Math.min(this.#e.length,t+Math.ceil(innerHeight/Ka())+8)}}render(){let e=F();this.#i=this.#M();let{first:t,last:n}=this.#i,r=this.#e.list(t,n);return this.#N(r),this.#a=Ea(this.#a,r.map(({taskId:e})=>e),this.#v),_`
      <h1>Tasks</h1>
      <bridge-task-views .context=${this.context} .query=${this.route.query}></bridge-task-views>
      <bridge-task-filters
        .context=${this.context} .query=${this.route.query} .inRow=${Ga()} .onQuery=${this.#D}
      ></bridge-task-filters>
      ${D(this.#_.error??this.#u)} ${this.#I()}
      ${this.#e.length===0?this.#R():S}
      <div role="table" aria-label="Tasks" aria-rowcount=${this.#t?-1:this.#e.length+1} ?hidden=${this.#e.length===0}>
        <div role="rowgroup">
          <div role="row" class="task-row heading" aria-rowindex="1">
            ${Na.map(({name:e,kind:t})=>_`<span role="columnheader" class=${t}>${e}</span>`)}
          </div>
        </div>
        <span class="id-probe" aria-hidden="true"></span>
        <div role="rowgroup" class="window" @click=${Ln}>
          <div class="visible" role="presentation">
            ${L(r,({taskId:e})=>this.#a.get(e),(n,r)=>this.#P(n,t+r,e))}
          </div>
        </div>
      </div>
      ${this.#t?_`<p class="hint">${this.#e.length} tasks loaded. Scroll down for more.</p>`:S}
    `}#N(e){let t=document.activeElement,n=t?.closest(`.visible > .task-row`);n!=null&&!e.some(({taskId:e})=>e===n.dataset.task)&&t.blur()}#P(e,t,n){let r=this.#e.levelAt(t);return _`<div role="row" class="task-row ${Ta({child:r>0,deep:r>1})}" aria-rowindex=${t+2} data-index=${t} data-task=${e.taskId}>
      <span role="cell" class="select"
        ><label
          ><input
            type="checkbox" aria-label="Select ${e.taskId}" .checked=${gr(this.#o.has(e.taskId))}
            ?disabled=${T(e)} @change=${()=>this.#k(e.taskId)} /></label
      ></span>
      ${Pa(e,n,{isListedAlone:r===0,children:this.#F(e)})}
    </div>`}#F({taskId:e,provider:t,childCount:n,title:r}){if(n===0||n===void 0)return S;let i=this.context.attention.state.adapters.find(e=>e.provider===t),a=Sr(i)?`answer`:`subtask`,o=this.#e.isOpen(e);return _`<button class="disclosure" aria-expanded=${o} @click=${()=>this.#T(e)}>
      <span aria-hidden="true">${o?`▾`:`▸`}</span> ${n} <span class="word">${a}${n===1?``:`s`}</span>
      <span class="visually-hidden">of ${l(r??e)}</span>
    </button>`}#I(){let e=this.#o.size,t=this.#l===``?S:_`<p class="note info" role="status">${l(this.#l)}</p>`;if(e===0||!this.context.identity.scopes.includes(`dispatch`))return t;let n=_`<button class="danger" @click=${()=>this.#L(!0)}>Cancel ${e} ${e===1?`task`:`tasks`}</button>`,r=_`<span>Cancel ${e} and all of their child tasks?</span>
      <button class="danger" @click=${()=>this.#A()}>Yes, cancel</button>
      <button @click=${()=>this.#L(!1)}>No</button>`;return _`<div class="selection">${this.#c?r:n}</div>
      ${t}`}#L(e){this.#c=e,this.requestUpdate()}#R(){if(!this.#g||this.#t)return this.#_.error===null?_`<p role="status">Loading …</p>`:S;let{query:e}=this.route;if(X(e)===``)return Wt(Ae,`No tasks yet.`,_`<a class="button" href=${M(`new`)}>Dispatch one</a>`);let t=new URLSearchParams([...e,[`children`,`all`]]);return Wt(Ie,`No task matches.`,_`<a class="button" href=${M(`tasks`)}>Clear the filters</a>
        ${Ir(e)?S:_`<a class="button" href=${M(`tasks?${t}`)}>Search child tasks, too</a>`}`)}};function Ga(){let e=innerWidth-(innerWidth<Va.from?0:Va.width)-Ha.without;return Ua.matches?0:Math.max(0,Math.min(5,Math.floor(e/Ha.filter)))}const Ka=()=>Ua.matches?82:36;customElements.define(`bridge-tasks`,Wa);var qa=class extends v{static properties={context:{attribute:!1},commands:{attribute:!1}};#e=``;#t=[];#n=0;#r=!1;#i;#a=null;open(){this.#e=``,this.#t=[],this.#n=0,this.#r=!0,this.requestUpdate(),this.updateComplete.then(()=>this.querySelector(`dialog`)?.showModal())}disconnectedCallback(){super.disconnectedCallback(),clearTimeout(this.#i),this.#a?.abort()}#o(){let e=this.#e.toLowerCase().split(/\s+/),t=this.commands.filter(({name:t,kind:n})=>e.every(e=>`${n} ${t}`.toLowerCase().includes(e))),n=this.#t.map(e=>({name:e.title??e.taskId,kind:`task`,task:e,run:()=>k(E(e.taskId))}));return this.#e===``?t:[...t.slice(0,8),...n]}#s(e){this.#e=e.target.value.trim(),this.#n=0,clearTimeout(this.#i),this.#i=setTimeout(()=>void this.#c(),150),this.requestUpdate()}async#c(){this.#a?.abort(),this.#a=new AbortController;let{signal:e}=this.#a;if(this.#e===``)this.#t=[];else{let t=await this.#l(e).catch(()=>[]);if(e.aborted)return;this.#t=t}this.requestUpdate()}async#l(e){let t={search:this.#e,limit:8},n=await this.context.api.list(`/api/v2/tasks`,t,{signal:e}),r=n.meta.nextCursor;if(r===null||n.data.length===8)return n.data;let i=await this.context.api.list(`/api/v2/tasks`,{...t,cursor:r},{signal:e});return[...n.data,...i.data].slice(0,8)}#u(e){let t=this.#o();if(e.key===`ArrowDown`||e.key===`ArrowUp`){let n=e.key===`ArrowDown`?1:t.length-1;this.#n=t.length===0?0:(this.#n+n)%t.length,this.requestUpdate()}else if(e.key===`Enter`)this.#d(t[this.#n]);else return;e.preventDefault()}#d(e){e!==void 0&&(this.querySelector(`dialog`)?.close(),e.run())}updated(){this.querySelector(`[aria-selected=true]`)?.scrollIntoView({block:`nearest`})}render(){let e=this.#r?this.#o():[];return _`<dialog class="command-menu" aria-label="Search or jump to" @click=${this.#m} @close=${this.#p}>
      ${this.#r?this.#f(e):S}
    </dialog>`}#f(e){return _`
      <input
        type="search" role="combobox" aria-label="Search or jump to" aria-expanded="true"
        aria-controls="command-choices" aria-activedescendant=${e.length===0?S:`choice-${this.#n}`}
        placeholder="Page, action, or task by id, title, agent or label" autocomplete="off" spellcheck="false"
        .value=${this.#e} @input=${this.#s} @keydown=${this.#u}
      />
      <ul id="command-choices" role="listbox" aria-label="Matches">
        ${e.map((e,t)=>_`<li
            id="choice-${t}" role="option" aria-selected=${t===this.#n} @click=${()=>this.#d(e)}
          >${Ja(e)}</li>`)}
      </ul>
      ${e.length===0?_`<p class="empty" role="status">Nothing matches.</p>`:S}`}#p(){this.#r=!1,this.requestUpdate()}#m(e){e.target instanceof HTMLDialogElement&&e.target.close()}};const Ja=({name:e,kind:t,task:n})=>n===void 0?_`<span class="choice-name">${l(e)}</span> <span class="detail">${t}</span>`:_`${j(O(n,F()))} <span class="choice-name" title=${e}>${l(e)}</span>
        <span class="detail">${n.taskId} · ${n.agentId}</span>`;customElements.define(`bridge-command-menu`,qa);function Ya({api:e,feed:t}){let n=/* @__PURE__ */ new Set,r=new AbortController,i={approvals:[],hasMoreApprovals:!1,faults:{data:[],counts:{approval:0,failure:0,callback:0,delivery:0,adapter:0},receivers:[]},faultsAt:0,adapters:[],error:null,isLoaded:!1},a,o,s=!1,c=!1;async function l(){if(s){c=!0;return}s=!0,c=!1;let{signal:t}=r;try{let n=F(),[r,a,o]=await Promise.all([Xa(e,t),e.call(`/api/v2/attention?limit=5`,{signal:t}),e.list(`/api/v2/adapters`,{limit:200},{signal:t})]);i={approvals:r.approvals,hasMoreApprovals:r.hasMore,faults:a,faultsAt:n,adapters:o.data,error:null,isLoaded:!0}}catch(e){if(t.aborted)return;i={...i,error:e instanceof I?e:new I(0,`unexpected`,String(e))}}finally{s=!1}t.aborted||(u(),d(c?0:document.hidden?2e4:5e3))}function u(){let e=F();i={...i,approvals:i.approvals.filter(t=>!me(t,e))};for(let e of n)e();clearTimeout(o);let t=Math.min(...i.approvals.map(({expiresAt:e})=>e===null?1/0:Date.parse(e)));t!==1/0&&(o=setTimeout(()=>{u(),d(100)},t-e))}function d(e){clearTimeout(a),a=setTimeout(()=>void l(),e)}let f=t.subscribe(e=>{(e?.some(({type:e})=>e!==`execution.started`&&e!==`execution.completed`)??!0)&&d(100)}),p=()=>{document.hidden||d(0)};return document.addEventListener(`visibilitychange`,p),l(),{get state(){return i},subscribe(e){return n.add(e),()=>void n.delete(e)},refresh:()=>d(0),close(){r.abort(),clearTimeout(a),clearTimeout(o),f(),n.clear(),document.removeEventListener(`visibilitychange`,p)}}}async function Xa(e,t){let n=[],r;for(let i=0;i<10;i+=1){let i={state:`pending`,order:`oldest`,limit:200-n.length,cursor:r},{data:a,meta:o}=await e.list(`/api/v2/approvals`,i,{signal:t});if(n.push(...a),o.nextCursor===null)return{approvals:n,hasMore:!1};if(n.length===200)break;r=o.nextCursor}return{approvals:n,hasMore:!0}}const Za=[`execution.started`,`execution.completed`,`execution.failed`,`tool.approval_requested`,`tool.approval_resolved`,`callback.delivered`,`callback.dead`];function Qa(e,t){let n=yt({url:y,token:e,retryDelayMs:150,patienceMs:2**53-1,parseJson:r}),i=/* @__PURE__ */ new Set,a=null,o=null,s,c=[],l,u,d=e=>{for(let t of i)t(e)};function f(e){d(e),o?.postMessage({events:e,lastId:s})}function p(){l=void 0;let e=c;c=[],f(e)}async function m(e){let t=()=>f(null),r=s===void 0?{signal:e,onGap:t}:{signal:e,onGap:t,after:s};for await(let e of n.events({types:Za},r))s=e.id,c.push(eo(e)),l??=setTimeout(p,50)}async function h(t){let{signal:n}=t;try{let t=await $a(e);if(n.throwIfAborted(),t===null)return await m(n);o=new BroadcastChannel(t),o.onmessage=({data:e})=>{s=e.lastId,d(e.events)},await navigator.locks.request(t,{signal:n},()=>m(n))}catch(e){if(n.aborted)return;if(e instanceof R&&e.status===401)return await g(t);console.error(`The event stream failed.`,e)}}async function g(e){o?.close(),o=null;let n=await t();await new Promise(e=>setTimeout(e,150)),n&&!e.signal.aborted&&await h(e)}function _(){a===null&&(a=new AbortController,h(a))}function v(){a?.abort(),a=null,o?.close(),o=null}function b(){clearTimeout(u),document.hidden?u=setTimeout(v,6e4):a===null&&(_(),d(null))}return document.addEventListener(`visibilitychange`,b),_(),{subscribe(e){return i.add(e),()=>void i.delete(e)},followTask:(e,t)=>n.events(e,t),close(){document.removeEventListener(`visibilitychange`,b),clearTimeout(u),clearTimeout(l),i.clear(),v()}}}async function $a(e){if(!isSecureContext)return null;let t=await crypto.subtle.digest(`SHA-256`,new TextEncoder().encode(`bridge stream ${e}`));return`bridge-${Array.from(new Uint8Array(t),e=>e.toString(16).padStart(2,`0`)).join(``)}`}function eo({type:e,taskId:t,agentId:n,provider:r,timestamp:i,data:a}){let{errorCode:o=null,approvalId:s=null}=a;return{type:e,taskId:t,agentId:n,provider:r,timestamp:i,errorCode:o,approvalId:s}}function to(){let{hash:e,pathname:t,search:n}=location;return e.startsWith(`#t=`)?(history.replaceState(history.state,``,t+n),e.slice(3)):null}async function no(e){let t={method:`POST`,body:{ticket:e}};return(await ne(null,()=>{}).call(`/api/v2/sessions`,t)).token}const $=`bridge.token`,ro=`Bridge no longer accepts this token. It has expired or was revoked. Sign in with another one.`;async function io(e){let t=await e.call(`/api/v2/me`),{version:n}=await e.call(`/`);return{identity:t,version:n}}function ao(e){let t={kind:`signed-out`,reason:null},n=()=>{},r=0,i=n=>{t=n,e()};function a(){return n(),n=()=>{},r+=1,r}function o(e){a(),sessionStorage.removeItem($),localStorage.removeItem($),i({kind:`signed-out`,reason:e})}async function s(e,{isNew:t}){let n=a(),s=t?`Bridge does not know this token. Copy the whole token: the file data/token contains it, unless the operator configured tokens.`:ro;i({kind:`checking`});let l=async()=>!await co(e)||(r===n&&o(s),!1),u=ne(e,()=>void l());for(;r===n;)try{let t=await io(u);s=ro,r===n&&c({...t,api:u,token:e},l);return}catch(e){if(r!==n)return;e instanceof I&&e.status===401||i({kind:`unreachable`,detail:po(e)}),await new Promise(e=>setTimeout(e,1e3))}}function c(e,t){let{parts:r,close:a}=oo(e,t);n=a,i({kind:`signed-in`,context:{...e,...r}})}function l(e,t={isNew:!1}){sessionStorage.setItem($,e),s(e,t)}async function u(e){let t=a();i({kind:`checking`});let o=fo();try{let a=await no(e),s=()=>so(ne(a,()=>{})),[c,u]=await Promise.all([lo(a),o===null?null:lo(o)]);if(r!==t)return s();if(c===null||u===null||uo(c,u))return l(a);n=s,i({kind:`confirming`,present:u,offered:c,accept:()=>{n=()=>{},l(a)},decline:d})}catch(e){if(r!==t)return;if(o!==null)return d();i({kind:`signed-out`,reason:po(e)})}}function d(){let e=fo();e===null?i({kind:`signed-out`,reason:null}):s(e,{isNew:!1})}function f(){let e=to();return e!==null&&u(e),e!==null}return{get state(){return t},resume(){f()||d()},followLink:f,signIn(e,{remember:t}){t&&localStorage.setItem($,e),l(e,{isNew:!0})},signOut(){t.kind===`signed-in`&&t.context.token.startsWith(`ses_`)&&so(t.context.api),o(null)}}}function oo({token:e,api:t},n){let r=Qa(e,n),i=Ya({api:t,feed:r});return{parts:{feed:r,attention:i},close(){i.close(),r.close()}}}function so(e){e.call(`/api/v2/sessions/current`,{method:`DELETE`}).catch(()=>{})}const co=e=>lo(e).then(e=>e===null,()=>!1);async function lo(e){try{return await ne(e,()=>{}).call(`/api/v2/me`)}catch(e){if(e instanceof I&&e.status===401)return null;throw e}}const uo=(e,t)=>e.name===t.name&&e.tenant===t.tenant,fo=()=>sessionStorage.getItem($)??localStorage.getItem($),po=e=>e instanceof I?e.message:String(e),mo={overview:`Overview`,tasks:`Tasks`,task:`Task`,new:`New task`,approvals:`Approvals`,callbacks:`Callbacks`,webhooks:`Webhooks`,adapters:`Adapters`,usage:`Usage`,missing:`Not found`},ho={new:()=>import(`./new-SEb3TPNQ.js`),callbacks:()=>import(`./callbacks-DcR1eRZl.js`),webhooks:()=>import(`./webhooks-BHg59c1L.js`),adapters:()=>import(`./adapters-DIlzU8T7.js`),usage:()=>import(`./usage-BBQsJG86.js`)},go=[{page:`overview`,path:``,sign:ke},{page:`tasks`,path:`tasks`,sign:Ae},{page:`approvals`,path:`approvals`,sign:Te},{page:`callbacks`,path:`callbacks`,sign:Re},{page:`webhooks`,path:`webhooks`,sign:be},{page:`adapters`,path:`adapters`,sign:Pe},{page:`usage`,path:`usage`,sign:Se}];var _o=class extends v{#e=ao(()=>this.#s());#t=qt();#n=fe();#r=this.#n.id;#i=null;#a=()=>{};#o=!1;connectedCallback(){super.connectedCallback(),addEventListener(`popstate`,()=>this.#l()),addEventListener(`hashchange`,()=>this.#e.followLink()),this.addEventListener(n,e=>{this.#r=e.detail,this.#c()}),addEventListener(`click`,e=>this.#u(e)),addEventListener(`keydown`,e=>this.#d(e)),this.#e.resume()}#s(){let{state:e}=this.#e;this.#a(),this.#t.reset(),this.#a=e.kind===`signed-in`?e.context.attention.subscribe(()=>this.#c()):()=>{},e.kind===`signed-in`?this.#c():this.#t.update(`Sign in`,{approvals:[],hasMoreApprovals:!1}),this.requestUpdate()}#c(){let{state:e}=this.#e;if(e.kind!==`signed-in`)return;let t=this.#n.page===`task`?this.#r:mo[this.#n.page];this.#t.update(t,e.context.attention.state),this.requestUpdate()}#l(){this.#e.followLink();let e=this.#n;this.#n=fe(),this.#o=!1,e.id!==this.#n.id&&(this.#r=this.#n.id),this.#c(),(e.page!==this.#n.page||e.id!==this.#n.id)&&(scrollTo(0,0),this.updateComplete.then(()=>this.querySelector(`main`)?.focus({preventScroll:!0})))}#u(e){let t=le(e);t!==null&&this.#e.state.kind===`signed-in`&&(e.preventDefault(),k(t))}#d(e){if(e.key===`k`&&(e.ctrlKey||e.metaKey)&&document.querySelector(`dialog[open]`)===null){e.preventDefault(),this.#p();return}if(e.ctrlKey||e.metaKey||e.altKey||bo(e))return;let t=this.querySelector(`dialog.help`);e.key===`?`&&t!==null?(e.preventDefault(),t.open?t.close():t.showModal()):document.querySelector(`dialog[open]`)===null&&this.querySelector(`[data-page]`)?.onKey(e.key,e)===!0&&e.preventDefault()}render(){let{state:e}=this.#e;switch(e.kind){case`signed-out`:return _`<bridge-sign-in
          .reason=${e.reason}
          .onSignIn=${(e,t)=>this.#e.signIn(e,t)}
        ></bridge-sign-in>`;case`checking`:return _`<main class="sign-in"><p role="status">Signing in …</p></main>`;case`unreachable`:return _`<main class="sign-in">
          <h1>Bridge</h1>
          <p class="note error" role="alert">${l(e.detail)}</p>
          <p role="status">Trying again …</p>
          <button @click=${()=>this.#e.signOut()}>Sign out</button>
        </main>`;case`confirming`:return vo(e);case`signed-in`:return this.#f(e.context)}}#f(e){let{identity:t,version:n,attention:r}=e,{page:i,id:a}=this.#n;return _`
      <a class="skip" href="#main" @click=${e=>this.#S(e)}>Skip to the content</a>
      <header class="shell">
        <a class="brand" href=${M(``)}>${Kt} Bridge</a>
        <a class="button primary new" href=${M(`new`)} aria-current=${i===`new`?`page`:S}
          >${U(Fe)}<span>New task</span></a
        >
        <button class="find" @click=${()=>this.#p()} aria-keyshortcuts="Control+K Meta+K">
          ${U(Le)}<span>Search</span><kbd aria-hidden="true">Ctrl K</kbd>
        </button>
        ${yo(r.state.error)?_`<span class="connection lost" role="status">reconnecting …</span>`:_`<span class="connection" role="status">live</span>`}
        ${this.#h(e)}
        <div id="navigation" class=${this.#o?`open`:``} @keydown=${this.#_} @focusout=${this.#v}>
        <nav aria-label="Pages">${go.map(t=>this.#y(t,e))}</nav>
        <div class="who">
          <dl>
            <div><dt>Token</dt><dd>${t.name}</dd></div>
            <div><dt>Tenant</dt><dd>${t.tenant}</dd></div>
            <div><dt>Version</dt><dd>${n}</dd></div>
          </dl>
          <button class="plain" title="${t.name}, tenant ${t.tenant}" @click=${()=>this.#e.signOut()}>${U(Me)} Sign out</button>
        </div>
        </div>
      </header>
      <main id="main" tabindex="-1">${ge(`${i}/${a}`,this.#x(e))}</main>
      <bridge-command-menu .context=${e} .commands=${this.#m(e)}></bridge-command-menu>
      ${So(i)}
    `}#p(){this.querySelector(`bridge-command-menu`)?.open()}#m({attention:e}){let t=(e,t,n=`page`)=>({name:e,kind:n,run:()=>k(M(t))});return[...go.map(({page:e,path:n})=>t(mo[e],n)),t(`New task`,`new`,`action`),...Or.slice(1).map(e=>t(e.name,`tasks?${e.query}`,`view of tasks`)),t(`Failed tasks`,`tasks?state=failed`,`view`),{name:`Show the keys`,kind:`action`,run:()=>this.querySelector(`dialog.help`)?.showModal()},{name:`Sign out`,kind:`action`,run:()=>this.#e.signOut()},...e.state.adapters.map(({provider:e})=>t(e,`tasks?provider=${encodeURIComponent(e)}`,`tasks of adapter`))]}#h({attention:e}){let{approvals:t,hasMoreApprovals:n,faults:r}=e.state,i=p(t.length+r.counts.callback+r.counts.delivery,n);return _`<button
      class="pages" aria-expanded=${this.#o} aria-controls="navigation"
      @click=${()=>this.#g(!this.#o)} @keydown=${this.#_}
      >${U(Ne)}<span class="visually-hidden">Pages</span>${i===`0`?S:_` <span class="count">${i}<span class="visually-hidden"> to look at</span></span>`}</button
    >`}#g(e){this.#o=e,this.requestUpdate();let t=e?`#navigation a`:`button.pages`;this.updateComplete.then(()=>this.querySelector(t)?.focus())}#_=e=>{e.key===`Escape`&&this.#o&&this.#g(!1)};#v=e=>{let t=e.relatedTarget;this.#o&&t!==null&&t.closest(`#navigation, button.pages`)===null&&(this.#o=!1,this.requestUpdate())};#y({page:e,path:t,sign:n},{attention:r}){let{approvals:i,hasMoreApprovals:a,faults:o}=r.state,s={approvals:p(i.length,a),callbacks:String(o.counts.callback),webhooks:String(o.counts.delivery)}[e]??`0`,c=this.#n.page===e||this.#n.page===`task`&&e===`tasks`;return _`<a href=${M(t)} aria-current=${c?`page`:S}
      >${U(n)} ${mo[e]}${s===`0`?S:_` <span class="count">${s}</span>`}</a
    >`}async#b(e){try{await ho[e]?.()}catch{this.#i=e}this.requestUpdate()}#x(e){let t=this.#n;if(this.#i===t.page)return _`<h1>${mo[t.page]}</h1>
        <p class="note error" role="alert">Bridge did not answer, or it was upgraded. <button @click=${()=>location.reload()}>Load again</button></p>`;if(ho[t.page]!==void 0&&customElements.get(`bridge-${t.page}`)===void 0)return this.#b(t.page),_`<p role="status">Loading …</p>`;switch(t.page){case`overview`:return _`<bridge-overview data-page .context=${e} .route=${t}></bridge-overview>`;case`new`:return _`<bridge-new data-page .context=${e} .route=${t}></bridge-new>`;case`approvals`:return _`<bridge-approvals data-page .context=${e} .route=${t}></bridge-approvals>`;case`callbacks`:return _`<bridge-callbacks data-page .context=${e} .route=${t}></bridge-callbacks>`;case`webhooks`:return _`<bridge-webhooks data-page .context=${e} .route=${t}></bridge-webhooks>`;case`adapters`:return _`<bridge-adapters data-page .context=${e} .route=${t}></bridge-adapters>`;case`usage`:return _`<bridge-usage data-page .context=${e} .route=${t}></bridge-usage>`;case`tasks`:return _`<bridge-tasks data-page .context=${e} .route=${t}></bridge-tasks>`;case`task`:return _`<bridge-task data-page .context=${e} .route=${t}></bridge-task>`;default:return _`<h1>Not found</h1>
          <p>The console has no such page. <a href=${M(``)}>Overview</a></p>`}}#S(e){e.preventDefault(),this.querySelector(`#main`)?.focus()}};const vo=({present:e,offered:t,accept:n,decline:r})=>_`
  <main class="sign-in">
    <h1>Bridge</h1>
    <p role="alert">
      You are signed in as ${e.name} (tenant ${e.tenant}). Sign in as ${t.name} (tenant ${t.tenant})?
    </p>
    <p class="hint">Continue only if you created this link or expected it.</p>
    <button class="primary" @click=${r}>Stay signed in as ${e.name}</button>
    <button @click=${n}>Sign in as ${t.name}</button>
  </main>
`,yo=e=>e!==null&&(e.status===0||e.status>=500);function bo(e){let[t]=e.composedPath();return t instanceof HTMLElement&&t.matches(`input:not([type=checkbox]), textarea, select, [contenteditable]`)}const xo=[[`Ctrl-K`,`search or jump to`],[`/`,`search or filter`,`tasks`],[`/`,`go to the first field`,`new`],[`j, k`,`next or previous row`,`overview`,`tasks`,`callbacks`,`webhooks`,`usage`],[`j, k`,`next or previous tool call`,`approvals`],[`Enter`,`open the row`,`overview`,`tasks`,`callbacks`,`webhooks`,`usage`],[`x`,`select the row`,`tasks`],[`a a, r r`,`approve or reject the selected tool call`,`approvals`],[`Ctrl-Enter`,`dispatch the task from its message`,`new`],[`?`,`this help`]],So=e=>_`
  <dialog class="help" aria-labelledby="help-title">
    <h2 id="help-title">Keys</h2>
    <dl>${xo.filter(([,,...t])=>t.length===0||t.includes(e)).map(([e,t])=>_`<dt><kbd>${e}</kbd></dt><dd>${t}</dd>`)}</dl>
    <form method="dialog" @submit=${Co}><button>Close</button></form>
  </dialog>
`;function Co(e){e.preventDefault(),e.target.closest(`dialog`)?.close()}customElements.define(`bridge-app`,_o);export{Pn as C,L as D,B as E,In as S,U as T,rr as _,Rr as a,cr as b,Hr as c,Cr as d,Sr as f,dr as g,ir as h,Kr as i,Vr as l,hr as m,Ni as n,Ur as o,Y as p,Ci as r,zr as s,va as t,wr as u,ur as v,Nn as w,pr as x,fr as y};