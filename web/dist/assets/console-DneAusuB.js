import{A as e,B as t,C as n,D as r,E as i,G as a,H as o,I as s,J as c,K as l,L as u,M as d,N as f,O as p,P as m,Q as h,R as g,S as _,T as v,U as y,V as ee,W as b,X as x,Y as S,Z as C,_ as w,a as T,b as E,c as D,d as te,f as O,g as ne,h as re,i as k,j as ie,k as A,l as ae,m as oe,n as se,o as j,p as ce,q as le,r as ue,s as M,u as N,v as P,w as de,x as F,y as fe,z as pe}from"./shared-CQ6XbefZ.js";
/**
* @license
* Copyright 2021 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/const me=le(class extends c{constructor(){super(...arguments),this.key=x}render(e,t){return this.key=e,t}update(e,[t,n]){return t!==this.key&&(y(e),this.key=t),n}}),he={xmlns:`http://www.w3.org/2000/svg`,width:24,height:24,viewBox:`0 0 24 24`,fill:`none`,stroke:`currentColor`,"stroke-width":2,"stroke-linecap":`round`,"stroke-linejoin":`round`},ge=([e,t,n])=>{
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
let r=document.createElementNS(`http://www.w3.org/2000/svg`,e);return Object.keys(t).forEach(e=>{r.setAttribute(e,String(t[e]))}),n?.length&&n.forEach(e=>{let t=ge(e);r.appendChild(t)}),r},_e=(e,t={})=>{let n={...he,...t};return ge([`svg`,n,e])},ve=[[`path`,{d:`M10.268 21a2 2 0 0 0 3.464 0`}],[`path`,{d:`M3.262 15.326A1 1 0 0 0 4 17h16a1 1 0 0 0 .74-1.673C19.41 13.956 18 12.499 18 8A6 6 0 0 0 6 8c0 4.499-1.411 5.956-2.738 7.326`}]],ye=[[`path`,{d:`M12 7v6`}],[`path`,{d:`M15 10H9`}],[`path`,{d:`M17 3a2 2 0 0 1 2 2v15a1 1 0 0 1-1.496.868l-4.512-2.578a2 2 0 0 0-1.984 0l-4.512 2.578A1 1 0 0 1 5 20V5a2 2 0 0 1 2-2z`}]],be=[[`path`,{d:`M5 21v-6`}],[`path`,{d:`M12 21V3`}],[`path`,{d:`M19 21V9`}]],xe=[[`path`,{d:`M21.801 10A10 10 0 1 1 17 3.335`}],[`path`,{d:`m9 11 3 3L22 4`}]],Se=[[`rect`,{width:`14`,height:`14`,x:`8`,y:`8`,rx:`2`,ry:`2`}],[`path`,{d:`M4 16c-1.1 0-2-.9-2-2V4c0-1.1.9-2 2-2h10c1.1 0 2 .9 2 2`}]],Ce=[[`circle`,{cx:`12`,cy:`12`,r:`1`}],[`circle`,{cx:`19`,cy:`12`,r:`1`}],[`circle`,{cx:`5`,cy:`12`,r:`1`}]],we=[[`rect`,{width:`7`,height:`9`,x:`3`,y:`3`,rx:`1`}],[`rect`,{width:`7`,height:`5`,x:`14`,y:`3`,rx:`1`}],[`rect`,{width:`7`,height:`9`,x:`14`,y:`12`,rx:`1`}],[`rect`,{width:`7`,height:`5`,x:`3`,y:`16`,rx:`1`}]],Te=[[`path`,{d:`M13 5h8`}],[`path`,{d:`M13 12h8`}],[`path`,{d:`M13 19h8`}],[`path`,{d:`m3 17 2 2 4-4`}],[`path`,{d:`m3 7 2 2 4-4`}]],Ee=[[`path`,{d:`M2 5h20`}],[`path`,{d:`M6 12h12`}],[`path`,{d:`M9 19h6`}]],De=[[`path`,{d:`m16 17 5-5-5-5`}],[`path`,{d:`M21 12H9`}],[`path`,{d:`M9 21H5a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2h4`}]],Oe=[[`path`,{d:`M12 22v-5`}],[`path`,{d:`M15 8V2`}],[`path`,{d:`M17 8a1 1 0 0 1 1 1v4a4 4 0 0 1-4 4h-4a4 4 0 0 1-4-4V9a1 1 0 0 1 1-1z`}],[`path`,{d:`M9 8V2`}]],ke=[[`path`,{d:`M5 12h14`}],[`path`,{d:`M12 5v14`}]],Ae=[[`path`,{d:`m21 21-4.34-4.34`}],[`circle`,{cx:`11`,cy:`11`,r:`8`}]],je=[[`path`,{d:`M14.536 21.686a.5.5 0 0 0 .937-.024l6.5-19a.496.496 0 0 0-.635-.635l-19 6.5a.5.5 0 0 0-.024.937l7.93 3.18a2 2 0 0 1 1.112 1.11z`}],[`path`,{d:`m21.854 2.147-10.94 10.939`}]],Me=[[`path`,{d:`M18 6 6 18`}],[`path`,{d:`m6 6 12 12`}]],Ne=(e,t,n)=>{
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
let r=/* @__PURE__ */ new Map;for(let i=t;i<=n;i++)r.set(e[i],i);return r},Pe=le(class extends c{constructor(e){if(super(e),e.type!==S.CHILD)throw Error(`repeat() can only be used in text expressions`)}dt(e,t,n){let r;n===void 0?n=t:t!==void 0&&(r=t);let i=[],a=[],o=0;for(let t of e)i[o]=r?r(t,o):o,a[o]=n(t,o),o++;return{values:a,keys:i}}render(e,t,n){return this.dt(e,t,n).values}update(e,[t,n,r]){let i=ee(e),{values:s,keys:c}=this.dt(t,n,r);if(!Array.isArray(i))return this.ut=c,s;let u=this.ut??=[],d=[],f,p,m=0,h=i.length-1,g=0,_=s.length-1;for(;m<=h&&g<=_;)if(i[m]===null)m++;else if(i[h]===null)h--;else if(u[m]===c[g])d[g]=a(i[m],s[g]),m++,g++;else if(u[h]===c[_])d[_]=a(i[h],s[_]),h--,_--;else if(u[m]===c[_])d[_]=a(i[m],s[_]),l(e,d[_+1],i[m]),m++,_--;else if(u[h]===c[g])d[g]=a(i[h],s[g]),l(e,i[m],i[h]),h--,g++;else if(f===void 0&&(f=Ne(c,g,_),p=Ne(u,m,h)),f.has(u[m])){if(f.has(u[h])){let t=p.get(c[g]),n=t===void 0?null:i[t];if(n===null){let t=l(e,i[m]);a(t,s[g]),d[g]=t}else d[g]=a(n,s[g]),l(e,i[m],n),i[t]=null;g++}else o(i[h]),h--}else o(i[m]),m++;for(;g<=_;){let t=l(e,d[_+1]);a(t,s[g]),d[g++]=t}for(;m<=h;){let e=i[m++];e!==null&&o(e)}return this.ut=c,y(e,d),C}});function Fe(e,t){let{url:n,patienceMs:r=12e4,retryDelayMs:i=500,silenceMs:a=31e3,parseJson:o=e=>JSON.parse(e)}=e;return{baseUrl:Ie(n),getToken:t,fetch:e.fetch??((e,t)=>fetch(e,t)),silenceMs:a,retryDelayMs:i,patienceMs:r,parseJson:o,contact:{hasAnswered:e.waitsForStart===!0}}}function Ie(e){let{href:t,protocol:n,username:r,password:i,search:a,hash:o}=new URL(e);if(!/^https?:$/.test(n)||r+i+a+o!==``)throw TypeError("`url` must be an http or https URL without credentials, query or fragment.");return t.replace(/\/*$/,`/`)}function Le({retryDelayMs:e,patienceMs:t,contact:n}){let r=null,i=0;return{async wait(a,o){if(!n.hasAnswered&&ze(a))throw a;r??=performance.now();let s=Math.min(e*2**i,e*20),c=Math.max(s*(.5+Math.random()/2),a.retryAfterMs??0);if(performance.now()-r+c>t)throw a;i+=1,await Be(c,o)},reset(){r=null,i=0}}}const Re=/* @__PURE__ */ new Set([`ECONNREFUSED`,`ENOTFOUND`,`EAI_AGAIN`,`EHOSTUNREACH`,`ENETUNREACH`,`UND_ERR_CONNECT_TIMEOUT`]);function ze({code:e,cause:t}){let n=t instanceof Error?t.cause?.code:void 0;return e===`unreachable`&&typeof n==`string`&&Re.has(n)}function Be(e,t){return new Promise((n,r)=>{let i=()=>{clearTimeout(a),r(t?.reason)},a=setTimeout(()=>{t?.removeEventListener(`abort`,i),n()},e);t?.aborted===!0?i():t?.addEventListener(`abort`,i,{once:!0})})}var I=class extends Error{name=`BridgeClientError`;code;status;requestId;errors;retryAfterMs;queue;closeCode;constructor(e,t,n={}){super(t,{cause:n.cause}),this.code=e,this.status=n.status??null,this.requestId=n.requestId??null,this.errors=n.errors??[],this.retryAfterMs=n.retryAfterMs??null,this.queue=n.queue??null,this.closeCode=n.closeCode??null}};async function Ve(e){let{status:t,headers:n}=e,r=await e.text(),i=He(r),a=Number(n.get(`retry-after`)??NaN);return new I(i?.code??`unexpected_answer`,i?.detail??`HTTP ${t}: ${r.slice(0,200)}`,{status:t,requestId:i?.requestId??n.get(`x-request-id`),errors:i?.errors,queue:i?.queue,retryAfterMs:Number.isFinite(a)?a*1e3:null})}function He(e){try{let t=JSON.parse(e);return typeof t==`object`&&t&&`code`in t&&typeof t.code==`string`?t:null}catch{return null}}async function Ue({baseUrl:e,getToken:t,fetch:n,silenceMs:r,contact:i},{path:a,method:o=`GET`,headers:s,body:c,content:l,waitMs:u=0,signal:d}){d?.throwIfAborted();let f=e+a.slice(1);if(new URL(f).href!==f)throw new I(`not_found`,`An id or a path must not be . or .., or contain one of them between slashes.`);let p=l===void 0?c===void 0?void 0:`application/json`:`application/octet-stream`,m=new Headers({...s,...p!==void 0&&{"content-type":p}});m.set(`authorization`,`Bearer ${We(await t())}`);let h=new AbortController,g=()=>h.abort(d?.reason);d?.addEventListener(`abort`,g);async function _(t){let n=r+u,i=setTimeout(()=>h.abort(/* @__PURE__ */ Error(`no data received for ${n/1e3} s`)),n);try{return await t}catch(t){throw d?.throwIfAborted(),new I(`unreachable`,`Cannot reach Bridge at ${e}: ${Ge(t)}`,{cause:t})}finally{clearTimeout(i)}}function v(){d?.removeEventListener(`abort`,g),h.abort()}try{let e=await _(n(f,{method:o,headers:m,body:l??(c===void 0?null:JSON.stringify(c)),signal:h.signal}));if(i.hasAnswered=!0,!e.ok)throw await _(Ve(e));return{response:e,receive:_,close:v}}catch(e){throw v(),e}}function We(e){if(/^[\x20-\x7e]*$/.test(e.trim()))return e.trim();throw TypeError(`The token contains characters that are not allowed in a header.`)}function Ge(e){return e instanceof Error?e.cause instanceof Error&&e.cause.message!==``?e.cause.message:e.message:String(e)}const Ke=({type:e})=>e===`execution.completed`||e===`execution.failed`;var qe=class extends Error{constructor(e,t){super(e),this.name=`ParseError`,this.type=t.type,this.field=t.field,this.value=t.value,this.line=t.line}};function Je(e){if(typeof e==`function`)throw TypeError("`config` must be an object, got a function instead. Did you mean `createParser({onEvent: fn})`?");let{maxBufferSize:t,onComment:n,onError:r,onEvent:i,onId:a,onRetry:o}=e,s=[],c=0,l=``,u,d=``,f=0,p,m=!1,h=!1,g=!1;function _(e){if(m)throw Error("Cannot feed parser: it was terminated after exceeding the configured max buffer size. Call `reset()` to resume parsing.");if(l!==void 0){if(e=l+e,e===``||e===`ï`||e===`ï»`){l=e;return}l=void 0,e=e.replace(/^(?:\uFEFF|\xEF\xBB\xBF)/,``)}if((h||g)&&(e=v(e),!e))return;if(!s.length){let t=x(e);t!==``&&y(t),b();return}if(e.indexOf(`
`)===-1&&e.indexOf(`\r`)===-1){if(c<6&&!ee(s.join(``)+e.slice(0,6-c))){s.length=0,c=0,h=!0;return}s.push(e),c+=e.length,b();return}s.push(e);let t=s.join(``);s.length=0,c=0,y(x(t)),b()}function v(e){if(e.length===0)return e;if(g)return g=!1,e.charCodeAt(0)===10?e.slice(1):e;let t=e.indexOf(`\r`),n=e.indexOf(`
`),r=t===-1?n:n===-1||t<n?t:n;return r===-1?``:r===e.length-1&&e.charCodeAt(r)===13?(h=!1,g=!0,``):(h=!1,e.slice(r+(e.charCodeAt(r)===13&&e.charCodeAt(r+1)===10?2:1)))}function y(e){if(e){if(e.charCodeAt(e.length-1)===13){if(S(e,0,e.length-1),b())return;g=!0}else ee(e)?(s.push(e),c=e.length):h=!0}}function ee(e){let t=e.charCodeAt(0);return t===58&&!!n||t===100&&Ze(e,`data`)||t===101&&Ze(e,`event`)||t===105&&Ze(e,`id`)||t===114&&Ze(e,`retry`)}function b(){return m?!0:t===void 0||c+d.length<=t?!1:(m=!0,s.length=0,c=0,u=void 0,d=``,f=0,p=void 0,h=!1,g=!1,r?.(new qe(`Buffered data exceeded max buffer size of ${t} characters`,{type:`max-buffer-size-exceeded`})),!0)}function x(e){let t=0;if(e.indexOf(`\r`)===-1){let n=e.indexOf(`
`,t);for(;n!==-1;){if(t===n){u!==void 0&&a?.(u),f>0&&i?.({id:u,event:p,data:d}),u=void 0,d=``,f=0,p=void 0,t=n+1,n=e.indexOf(`
`,t);continue}let r=e.charCodeAt(t);if(Ye(e,t,r)){let r=e.charCodeAt(t+5)===32?t+6:t+5,o=e.slice(r,n);if(f===0&&e.charCodeAt(n+1)===10){u!==void 0&&a?.(u),i?.({id:u,event:p,data:o}),u=void 0,d=``,p=void 0,t=n+2,n=e.indexOf(`
`,t);continue}d=f===0?o:`${d}\n${o}`,f++}else Xe(e,t,r)?p=e.slice(e.charCodeAt(t+6)===32?t+7:t+6,n)||void 0:S(e,t,n);if(b())return``;t=n+1,n=e.indexOf(`
`,t)}return e.slice(t)}let n=e.indexOf(`\r`,t),r=e.indexOf(`
`,t);for(;t<e.length;){let i=-1;if(n!==-1&&r!==-1?i=n<r?n:r:n===-1?r!==-1&&(i=r):i=n===e.length-1?-1:n,i===-1)break;if(S(e,t,i),b())return``;t=i+1,e.charCodeAt(t-1)===13&&e.charCodeAt(t)===10&&t++,n!==-1&&n<t&&(n=e.indexOf(`\r`,t)),r!==-1&&r<t&&(r=e.indexOf(`
`,t))}return e.slice(t)}function S(e,t,r){if(t===r){w();return}let i=e.charCodeAt(t);if(Ye(e,t,i)){let n=e.charCodeAt(t+5)===32?t+6:t+5,i=e.slice(n,r);d=f===0?i:`${d}\n${i}`,f++;return}if(Xe(e,t,i)){p=e.slice(e.charCodeAt(t+6)===32?t+7:t+6,r)||void 0;return}if(i===105&&e.charCodeAt(t+1)===100&&e.charCodeAt(t+2)===58){let n=e.slice(e.charCodeAt(t+3)===32?t+4:t+3,r);n.includes(`\0`)||(u=n);return}if(i===58){if(n){let i=e.slice(t,r);n(i.slice(e.charCodeAt(t+1)===32?2:1))}return}let a=e.slice(t,r),o=a.indexOf(`:`);if(o===-1){C(a,``,a);return}let s=a.slice(0,o),c=a.charCodeAt(o+1)===32?2:1;C(s,a.slice(o+c),a)}function C(e,t,n){switch(e){case`event`:p=t||void 0;break;case`data`:d=f===0?t:`${d}\n${t}`,f++;break;case`id`:t.includes(`\0`)||(u=t);break;case`retry`:/^\d+$/.test(t)?o?.(parseInt(t,10)):r?.(new qe(`Invalid \`retry\` value: "${t}"`,{type:`invalid-retry`,value:t,line:n}));break;default:r?.(new qe(`Unknown field "${e.length>20?`${e.slice(0,20)}…`:e}"`,{type:`unknown-field`,field:e,value:t,line:n}))}}function w(){u!==void 0&&a?.(u),f>0&&i?.({id:u,event:p,data:d}),u=void 0,d=``,f=0,p=void 0}function T(e={}){if(e.consume&&s.length>0){let e=s.join(``);S(e,0,e.length)}l=``,u=void 0,d=``,f=0,p=void 0,s.length=0,c=0,m=!1,h=!1,g=!1}return{feed:_,reset:T}}function Ye(e,t,n){return n===100&&e.charCodeAt(t+1)===97&&e.charCodeAt(t+2)===116&&e.charCodeAt(t+3)===97&&e.charCodeAt(t+4)===58}function Xe(e,t,n){return n===101&&e.charCodeAt(t+1)===118&&e.charCodeAt(t+2)===101&&e.charCodeAt(t+3)===110&&e.charCodeAt(t+4)===116&&e.charCodeAt(t+5)===58}function Ze(e,t){let n=1;for(;n<e.length&&n<t.length;){if(e.charCodeAt(n)!==t.charCodeAt(n))return!1;n++}return e.length<=t.length||e.charCodeAt(t.length)===58}async function*Qe({response:e,receive:t,close:n}){try{if(e.body===null)return;let n=e.body.pipeThrough(new TextDecoderStream).getReader();for(;;){let e=await t(n.read());if(e.done)return;yield e.value}}finally{n()}}async function*$e(e){let t=[],n=Je({onId:e=>void t.push({id:e}),onEvent:({event:e=`message`,data:n})=>void t.push({event:e,data:n})});for await(let r of Qe(e))n.feed(r),yield t,t=[]}const et=({status:e,code:t})=>(e===429||e===503)&&t!==`adapter_offline`,tt=({status:e,code:t})=>t===`unreachable`||t===`too_slow`||e===502||e===504;function nt(e,t){return e instanceof I&&(et(e)||t&&tt(e))}async function rt(e,{isRepeatable:t,signal:n,...r}){let i=Le(r);for(;;)try{return await e()}catch(e){if(!nt(e,t))throw e;await i.wait(e,n)}}async function*it(e,{after:t,signal:n,onGap:r},i){let a=at(e),o=Le(i),s=t;for(;;){let t;try{let c=await Ue(i,{path:a,headers:{accept:`text/event-stream`,...s!==void 0&&{"last-event-id":s}},signal:n});if(c.response.status===204)return c.close();ot(c);for await(let t of $e(c)){o.reset();for(let n of t)if(`id`in n)s=n.id;else if(n.event===`stream.gap`)st(JSON.parse(n.data),r);else if(!n.event.startsWith(`stream.`)){let t=i.parseJson(n.data);if(yield t,typeof e==`string`&&Ke(t))return}}t=new I(`unreachable`,`Bridge ended the event stream.`)}catch(e){if(!nt(e,!0))throw e;t=e}await o.wait(t,n)}}function at(e){if(typeof e==`string`)return`/api/v2/tasks/${encodeURIComponent(e)}/events`;let{types:t,...n}=e,r=Object.entries({...n,types:t?.join(`,`)}).filter(([,e])=>e!==void 0);return r.length===0?`/api/events`:`/api/events?${new URLSearchParams(r)}`}function ot({response:{status:e,headers:t},close:n}){let r=t.get(`content-type`)??`no content type`;if(r.startsWith(`text/event-stream`))return;n();let i=t.get(`x-request-id`);throw new I(`unexpected_answer`,`HTTP ${e}: expected an event stream, got ${r}.`,{status:e,requestId:i})}function st(e,t){if(t===void 0)throw new I(`stream_gap`,"Events after `after` have been deleted. Set onGap to continue with the oldest stored event.");t(e)}const ct=()=>Array.from(crypto.getRandomValues(/* @__PURE__ */ new Uint8Array(16)),e=>e.toString(16).padStart(2,`0`)).join(``);function lt({response:e,receive:t,close:n}){let r=e.body?.getReader();async function i(e){try{let n=r&&await t(r.read());if(n?.value!==void 0)return e.enqueue(n.value)}catch(e){throw n(),e}n(),e.close()}return new Response(new ReadableStream({pull:i,cancel:n},{highWaterMark:0}),e)}async function ut(e,t){let n=``;for await(let t of Qe(e))n+=t;try{return t(n)}catch(t){let{status:r,headers:i}=e.response,a=i.get(`x-request-id`);throw new I(`unexpected_answer`,`HTTP ${r}: ${n.slice(0,200)}`,{status:r,requestId:a,cause:t})}}const dt=e=>new URLSearchParams(Object.entries(e).filter(([,e])=>e!==void 0));function ft(e){function t(t,{isRepeatable:n=!0,...r},i=e=>e){return rt(async()=>{let n=await Ue(e,{path:t,...r});return i(await ut(n,e.parseJson),n.response.headers)},{...e,isRepeatable:n,signal:r.signal})}async function*n(e,n,{signal:r}){let i=dt(n);for(;;){let n=await t(`${e}?${i}`,{signal:r});if(yield n,n.meta.nextCursor===null)return;i.set(`cursor`,n.meta.nextCursor)}}return{send:t,sendForStatus(t,n){return rt(async()=>{let{response:n,close:r}=await Ue(e,t);return r(),n},{...e,isRepeatable:n,signal:t.signal})},async sendForBytes(t){return lt(await rt(()=>Ue(e,t),{...e,isRepeatable:!0,signal:t.signal}))},fetchPages:n,async*list(e,t,r){for await(let{data:i}of n(e,t,r))yield*i}}}function pt(e){let{token:t,getToken:n}=e,r=Fe(e,n??(()=>t)),{send:i,sendForStatus:a,sendForBytes:o,fetchPages:s,list:c}=ft(r),l={dispatch:(e,{signal:t}={})=>i(`/api/v2/dispatch`,{method:`POST`,body:{...e,taskId:e.taskId??ct()},signal:t},(e,t)=>({...e,replayed:t.get(`idempotent-replayed`)===`true`})),async run(e,t){let{taskId:n}=await l.dispatch(e,t);return l.waitForTask(n,t)},checkDispatch:(e,{signal:t}={})=>i(`/api/v2/dispatch/check`,{method:`POST`,body:e,signal:t}),getTask:(e,{waitSeconds:t=0,signal:n}={})=>t<=0?i(L(e),{signal:n}):i(L(e),{headers:{prefer:`wait=${Math.ceil(t)}`},waitMs:t*1e3,signal:n}),getTaskRequest:(e,{signal:t}={})=>i(`${L(e)}/request`,{signal:t}),async deleteTask(e,{signal:t}={}){await a({path:L(e),method:`DELETE`,signal:t},!1)},async waitForTask(e,{signal:t}={}){let n=await l.getTask(e,{signal:t});if(St(n.state))return n;for await(let n of l.events(e,{signal:t,onGap:()=>{}}));return l.getTask(e,{signal:t})},listTasks:(e={},t={})=>c(`/api/v2/tasks`,e,t),cancel:(e,{signal:t}={})=>i(`${L(e)}/cancel`,{method:`POST`,signal:t}),events:(e={},t={})=>it(e,t,r),...mt({send:i,sendForStatus:a}),...ht({send:i,list:c,fetchPages:s}),listAgents:(e={})=>c(`/api/v2/agents`,{},e),getStats:(e={},{signal:t}={})=>i(`/api/v2/stats?${dt(e)}`,{signal:t}),getServiceInfo:({signal:e}={})=>i(`/`,{headers:{accept:`application/json`},signal:e}),workspaces:{list:(e={})=>c(`/api/v2/workspaces`,{},e),async putFile(e,t,n,{ifMatch:r,mustBeNew:i=!1,signal:o}={}){let s={...r!==void 0&&{"if-match":r},...i&&{"if-none-match":`*`}},c=r===void 0&&!i,l=await a({path:xt(e,t),method:`PUT`,headers:s,content:n,signal:o},c);return{isNew:l.status===201,etag:l.headers.get(`etag`)??``}},async deleteFile(e,t,{ifMatch:n,signal:r}={}){let i=n===void 0?{}:{"if-match":n};await a({path:xt(e,t),method:`DELETE`,headers:i,signal:r},!1)}},files:{async list(e,t={}){let n=[],r=!1;for await(let{data:i,meta:a}of s(`${L(e)}/files`,{},t))n.push(...i),r||=a.truncated===!0;return{files:n,truncated:r}},async download(e,t,{signal:n}={}){return o({path:`${L(e)}/files/${bt(t)}`,signal:n})},diff:(e,{signal:t}={})=>i(`${L(e)}/diff`,{waitMs:3e4,signal:t})},approvals:{list:(e={},t={})=>c(`/api/v2/approvals`,e,t),decide:(e,t,n,{signal:r}={})=>i(`/api/v2/approvals/${encodeURIComponent(e)}`,{method:`POST`,body:{decision:t,reason:n},signal:r,isRepeatable:!1})},attention:gt({send:i}),callbacks:_t({send:i,list:c}),webhooks:vt({send:i,list:c})};return l}function mt({send:e,sendForStatus:t}){return{createTicket:({scopes:t}={},{signal:n}={})=>e(`/api/v2/events/ticket`,{method:`POST`,body:{scopes:t},signal:n}),createSignInLink:({signal:t}={})=>e(`/api/v2/sessions/link`,{method:`POST`,signal:t}),createSession:(t,{signal:n}={})=>e(`/api/v2/sessions`,{method:`POST`,body:{ticket:t},signal:n,isRepeatable:!1}),async deleteSession({signal:e}={}){await t({path:`/api/v2/sessions/current`,method:`DELETE`,signal:e},!1)},getIdentity:({signal:t}={})=>e(`/api/v2/me`,{signal:t})}}function ht({send:e,list:t,fetchPages:n}){return{listAdapters:(e={})=>t(`/api/v2/adapters`,{},e),checkAdapter:(t,{signal:n}={})=>e(`/api/v2/adapters/${encodeURIComponent(t)}/check`,{method:`POST`,waitMs:3e4,signal:n}),async listDomains(e,t={}){let r=[],i=null;for await(let{data:a,meta:o}of n(`/api/v2/domains`,{workspace:e},t))r.push(...a),i=o.settingsFault??null;return{domains:r,settingsFault:i}}}}function gt({send:e}){return{list:(t={},{signal:n}={})=>e(`/api/v2/attention?${dt(t)}`,{signal:n}),async acknowledge(t,{signal:n}={}){let r=0;for(;;){let i=await e(`/api/v2/attention/acknowledge`,{method:`POST`,body:t,signal:n});if(r+=i.acknowledged,!i.hasMore)return r}}}}function _t({send:e,list:t}){return{list:(e={},n={})=>t(`/api/v2/callbacks`,e,n),get:(t,{signal:n}={})=>e(`/api/v2/callbacks/${encodeURIComponent(t)}`,{signal:n}),redeliver:(t,{signal:n}={})=>e(`/api/v2/callbacks/${encodeURIComponent(t)}/redeliver`,{method:`POST`,signal:n,isRepeatable:!1}),redeliverAll:(t,{signal:n}={})=>yt(e,`/api/v2/callbacks/redeliver`,{body:{origin:t},signal:n})}}function vt({send:e,list:t}){let n=e=>`/api/v2/webhooks/${encodeURIComponent(e)}`;return{list:(e={})=>t(`/api/v2/webhooks`,{},e),listDeliveries:(e,r={},i={})=>t(`${n(e)}/deliveries`,r,i),redeliver:(t,r,{signal:i}={})=>e(`${n(t)}/deliveries/${encodeURIComponent(r)}/redeliver`,{method:`POST`,signal:i,isRepeatable:!1}),redeliverAll:(t,{signal:r}={})=>yt(e,`${n(t)}/redeliver`,{body:{},signal:r})}}async function yt(e,t,{body:n,signal:r}){let i=0,a;do{let o=await e(t,{method:`POST`,body:{...n,cursor:a},signal:r,isRepeatable:!1});i+=o.redelivered,a=o.nextCursor??void 0}while(a!==void 0);return i}const bt=e=>e.split(`/`).map(encodeURIComponent).join(`/`),xt=(e,t)=>`/api/v2/workspaces/${encodeURIComponent(e)}/files/${bt(t)}`,L=e=>`/api/v2/tasks/${encodeURIComponent(e)}`,St=e=>e!==`queued`&&e!==`running`,Ct={adapter_offline:{cause:`The adapter went offline while the task waited, or no node can run the task any more.`,advice:`Read the preflight of the adapter, which names what is missing. Then dispatch the task again.`,remedies:[`open_adapter`,`run_again`]},adapter_error:{cause:`The adapter failed for a reason that no other code describes.`,advice:"Read `error` and the log lines of the task. Check the adapter, then dispatch the task again.",remedies:[`open_adapter`,`run_again`]},authentication_required:{cause:`The program is not logged in, or the key is wrong.`,advice:`Set the key in the environment of Bridge, or log in with the program. Then dispatch the task again.`,remedies:[`open_adapter`,`run_again`]},user_action_required:{cause:`The runtime needs a person, for example to accept terms or to choose an account.`,advice:`Start the program once by hand as the user of Bridge, do what it asks for, and dispatch the task again.`,remedies:[`open_adapter`,`run_again`]},rate_limited:{cause:`The vendor rejects requests for now, or a usage limit is reached.`,advice:"Dispatch the task later, or lower `BRIDGE_MAX_CONCURRENT` for this adapter.",remedies:[`run_again`]},model_error:{cause:`The model failed, or it answered nothing.`,advice:"Dispatch the task again. If it fails again, read `error`, and try another `model`.",remedies:[`run_again`,`change_request`]},timeout:{cause:"The task ran longer than `timeoutSeconds`, 600 by default.",advice:"Send a larger `timeoutSeconds`, up to 86400.",remedies:[`run_longer`,`change_request`]},idle_timeout:{cause:"The runtime emitted no event for `BRIDGE_IDLE_SECONDS`, 300 by default, and no tool call was open.",advice:`Dispatch the task again. If the model is slow, raise the setting, or set it to 0 to disable the limit.`,remedies:[`run_again`]},cancelled:{cause:`A client or a person canceled the task, or its parent task ended.`,advice:`Nothing. Dispatch the task again if it is still needed.`,remedies:[`run_again`,`change_request`]},output_limit:{cause:`The runtime wrote more than Bridge stores.`,advice:`Ask for a file in the workspace instead of a long answer.`,remedies:[`change_request`]},output_invalid:{cause:"The answer does not match the output strategy, such as `outputSchema`.",advice:"Read the text in `output`. Simplify the schema, or ask for the fields in the message.",remedies:[`change_request`,`run_again`]},runtime_crashed:{cause:`The program ended without a result.`,advice:"Read `error`, which contains the end of its stderr. Run the program by hand in the workspace.",remedies:[`run_again`,`open_adapter`]},spawn_failed:{cause:`Bridge could not start the program: it is missing, not executable, or the machine has no room for it.`,advice:"Read `error`. Correct the path of the program or its permissions, or lower `BRIDGE_MAX_CONCURRENT`.",remedies:[`open_adapter`,`run_again`]},bridge_restarted:{cause:`Bridge ended while the task ran, or its node lost the PostgreSQL database for most of its lease.`,advice:'Check what the task has already done, and dispatch it again. With `"onInterrupt": "retry"`, Bridge does this once.',remedies:[`run_again`,`change_request`]},bridge_shutdown:{cause:"Bridge shut down, and the task did not end within `BRIDGE_DRAIN_SECONDS`. A task that waits for a person ends so, too.",advice:'Dispatch the task again. Raise the setting, or send `"onInterrupt": "retry"`.',remedies:[`run_again`]},max_turns:{cause:`The runtime reached its own limit of turns.`,advice:"Divide the task, or raise the limit in the settings of the runtime. A `resumeToken` continues the session.",remedies:[`change_request`]},budget_exceeded:{cause:`The runtime reached its own budget.`,advice:`Raise the budget in the settings of the runtime, or divide the task.`,remedies:[`change_request`]}},wt=e=>Object.hasOwn(Ct,e)?Ct[e]:null,Tt=5e3;function R(e,t,{intervalMs:n=()=>Tt,onValue:r}={}){let i={value:void 0,error:null},a=null,o,s=!1,c=!1;async function l(){if(a===null)return;if(s){c=!0;return}let{signal:l}=a;clearTimeout(o),s=!0,c=!1;try{let e=await t(l);if(l.aborted)return;i.value=e,i.error=null,r?.(e)}catch(e){if(l.aborted)return;i.error=e instanceof E?e:new E(0,`unexpected`,String(e))}finally{s=!1,l.aborted||(e.requestUpdate(),u(c?0:n()))}}function u(e){clearTimeout(o),document.hidden||(o=setTimeout(()=>void l(),e))}let d=()=>{document.hidden||u(0)};return e.addController({hostConnected(){a=new AbortController,s=!1,document.addEventListener(`visibilitychange`,d),e.updateComplete.then(()=>l())},hostDisconnected(){a?.abort(),a=null,clearTimeout(o),document.removeEventListener(`visibilitychange`,d)}}),{get value(){return i.value},get error(){return i.error},refresh:()=>void l()}}function Et(e){let t=(typeof e==`object`&&e&&!Array.isArray(e)?Object.entries(e):[[``,e]]).map(([e,t])=>[s(String(e)),s(f(t))]);if(t.reduce((e,[t,n])=>e+t.length+n.length,0)<=240&&t.reduce((e,[,t])=>e+1+t.split(`
`).length,0)<=7)return null;let n=t.length>3?[...t.slice(0,2),...t.slice(-1)]:t,r=Math.floor(240/(2*n.length)),i=n.map(([e,t])=>Dt(e,t,r));return t.length>3&&i.splice(2,0,`… ${t.length-3} more fields …`),i.join(`
`)}function Dt(e,t,n){let r=e===``?``:`${Ot(e,n)}: `,i=t.split(`
`).filter(e=>e.trim()!==``),[a=``,o=``]=[i[0],i.at(-1)];if(i.length>1){let e=i.length>2?[`… ${i.length-2} more lines …`]:[];return[`${r}${Ot(a,n)}`,...e,kt(o,n)].join(`
`)}return a.length<=2*n?`${r}${a}`:[`${r}${Ot(a,n)}`,kt(a,n)].join(`
`)}const Ot=(e,t)=>e.length>t?`${e.slice(0,t)}…`:e,kt=(e,t)=>e.length>t?`…${e.slice(-t)}`:e;function At(e,t){let n=document.createElement(`a`);n.href=URL.createObjectURL(e),n.download=t,n.click(),URL.revokeObjectURL(n.href)}var jt=class extends g{static properties={value:{attribute:!1},showsEnd:{attribute:!1}};#e=``;#t=2e4;willUpdate(e){e.has(`value`)&&(this.#e=f(this.value))}render(){let e=this.#e.length-this.#t,t=this.showsEnd?this.#e.slice(-this.#t):this.#e.slice(0,this.#t),n=h`<pre tabindex="0">${s(t)}</pre>`;if(e<=0)return n;let r=h`<p class="more">
      <button @click=${this.#n}>Show more (${i(e)} left)</button>
      <button @click=${this.#r}>Save the whole text</button>
    </p>`;return this.showsEnd?h`${r}${n}`:h`${n}${r}`}#n(){this.#t+=5e4,this.requestUpdate()}#r(){At(new Blob([this.#e],{type:`text/plain;charset=utf-8`}),`text.txt`)}};customElements.define(`bridge-long-text`,jt);const z=(e,{showsEnd:t=!1}={})=>h`<bridge-long-text .value=${e} .showsEnd=${t}></bridge-long-text>`;function B(e){if(typeof e!=`object`||!e||Array.isArray(e))return z(e);let t=Object.entries(e);return t.length===0?h`<p class="hint">No input.</p>`:h`<dl class="input-fields">
    ${t.map(([e,t])=>h`<div><dt>${s(e)}</dt><dd>${z(t)}</dd></div>`)}
  </dl>`}const Mt=Array.from({length:51},(e,t)=>t/50);var Nt=class extends g{static properties={approvalId:{attribute:!1},input:{attribute:!1},isOver:{attribute:!1},expiresAt:{attribute:!1},context:{attribute:!1}};#e=null;#t=!1;#n=null;#r=new IntersectionObserver(()=>this.#d(),{threshold:Mt});#i=null;#a;#o=null;#s=``;#c=null;disconnectedCallback(){super.disconnectedCallback(),this.#r.disconnect(),this.#n=null,clearTimeout(this.#a)}press(e){this.#i===e&&(e===`reject`||this.#d())?(this.forget(),this.#m(e)):(this.forget(),this.#l()||(this.#i=e,this.#a=setTimeout(()=>this.forget(),5e3),this.#f(),this.requestUpdate()))}forget(){let e=this.#i!==null;return clearTimeout(this.#a),this.#i=null,e&&this.requestUpdate(),e}#l(){return this.#o!==null||this.#s!==``||this.isOver===!0||!this.#u()}#u(){return this.context.identity.scopes.includes(`approve`)}#d(){let{top:e,bottom:t,height:n}=this.#n?.getBoundingClientRect()??new DOMRect,r=n+40<=innerHeight,i=n>0&&(e>=-1||!r)&&t>0&&t<=innerHeight+1;return i!==this.#t&&(this.#t=i,this.requestUpdate()),i}#f(){this.#n?.scrollIntoView({block:`nearest`})}#p(){this.#t&&this.#d()?this.#m(`approve`):this.#f()}async#m(e){if(this.#l())return;this.#o=e,this.#c=null,this.requestUpdate();let{api:t,attention:n}=this.context,r=this.querySelector(`input`)?.value.trim()??``,i=`/api/v2/approvals/${encodeURIComponent(this.approvalId)}`;try{let n={decision:e,...r!==``&&{reason:r}};this.#s=Pt(await t.call(i,{method:`POST`,body:n}))}catch(e){e instanceof E&&e.code===`already_decided`?this.#s=e.message:this.#c=e instanceof E?e:new E(0,`unexpected`,String(e))}this.#o=null,n.refresh(),this.requestUpdate()}willUpdate(e){e.has(`input`)&&(this.#e=Et(this.input))}updated(){let e=this.querySelector(`.shown-input`);e!==this.#n&&(this.#r.disconnect(),this.#n=e,e!==null&&this.#r.observe(e))}render(){if(this.#s!==``)return h`${B(this.input)}<p class="note info" role="status">${s(this.#s)}</p>`;if(this.isOver===!0&&this.#o===null)return h`${B(this.input)}
        <p class="hint" role="status">
          ${fe(this,_())?`The time for a decision is over, so Bridge rejects the call.`:`No longer waiting. The timeline of the task shows the decision.`}
        </p>`;if(!this.#u())return h`${B(this.input)}<p class="hint">Your token cannot decide approvals.</p>`;let e=this.#o!==null;return h`
      ${this.#e===null?x:B(this.input)}
      <div class="shown-input">
        ${this.#e===null?B(this.input):h`<p class="hint">First and last line</p><pre>${this.#e}</pre>`}
      </div>
      <div class="decision">
        <input aria-label="Reason" placeholder="Reason (optional)" maxlength="2000" autocomplete="off" />
        <button class="primary" ?disabled=${e} @click=${this.#p}>${this.#t?`Approve`:`Show the input`}</button>
        <button class="danger" ?disabled=${e} @click=${()=>this.#m(`reject`)}>Reject</button>
        <span role="status">${e?`Sending …`:this.#h()}</span>
      </div>
      ${O(this.#c)}
    `}#h(){return this.#i===null?x:h`Press <kbd>${this.#i===`approve`?`a`:`r`}</kbd> again to ${this.#i}, <kbd>Esc</kbd> to keep it waiting.`}};customElements.define(`bridge-decision`,Nt);const Pt=({state:e,decidedBy:t,reason:n})=>`${e} by ${t??`?`}${n===null||n===``?``:`: ${n}`}`;function Ft(e,t){if(e===null)return h`<span class="countdown">waits without a time limit</span>`;let n=Date.parse(e)-t;return fe({expiresAt:e},t)?h`<span class="countdown">expired</span>`:h`<span class="countdown">rejected automatically in ${A(Math.ceil(n/1e3)*1e3)}</span>`}const It=`M2 22h28M5 22a11 11 0 0 1 22 0M10 22v-8m6 8V11m6 11v-8`,Lt=h`<svg class="icon" viewBox="0 0 32 32" fill="none" stroke="currentColor" stroke-width="3" aria-hidden="true">
  <path d=${It} />
</svg>`;function Rt(){let e=null,t=null;return{update(n,{approvals:r,hasMoreApprovals:i}){let a=r.length;document.title=a===0?`${n} · Bridge`:`(${a}${i?`+`:``}) ${n} · Bridge`;let o=Ht(a);o!==t&&document.querySelector(`link[rel=icon]`)?.setAttribute(`href`,o),t=o;let s=r.filter(({approvalId:t})=>e?.has(t)===!1);e=new Set(r.map(({approvalId:e})=>e)),s.length>0&&zt()&&Vt(s)},reset(){e=null}}}const zt=()=>`Notification`in globalThis&&Notification.permission===`granted`,Bt=()=>`Notification`in globalThis&&isSecureContext&&Notification.permission==="default";function Vt(e){let[t]=e,n=e.length===1?`${t?.agentId} wants to call ${t?.toolName}.`:`${e.length} tool calls wait.`,r=new Notification(`Bridge: approval needed`,{body:n,tag:`bridge-approval`});r.onclick=()=>{focus(),r.close()}}function Ht(e){return`data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="${It}" fill="none" stroke="#2563eb" stroke-width="2.5"/>${e===0?``:`<circle cx="24" cy="8" r="8" fill="#c2410c"/>`}</svg>`)}`}var Ut=class extends pe{#e=/* @__PURE__ */ new Map;#t=null;#n;#r=[];#i=R(this,async e=>(await this.context.api.list(`/api/v2/approvals`,{limit:100},{signal:e})).data);connectedCallback(){super.connectedCallback();let{attention:e,feed:t}=this.context;this.#a(),this.#n=setInterval(()=>this.requestUpdate(),1e3),this.#r=[e.subscribe(()=>{this.#a(),this.requestUpdate()}),t.subscribe(e=>{(e?.some(({approvalId:e})=>e!==null)??!0)&&this.#i.refresh()})]}disconnectedCallback(){super.disconnectedCallback(),clearInterval(this.#n);for(let e of this.#r)e()}#a(){let{approvals:e,isLoaded:t}=this.context.attention.state;for(let t of e)this.#e.set(t.approvalId,t);if(!t)return;let n=new Set(e.map(({approvalId:e})=>e)),r=[...this.#e.keys()].filter(e=>!n.has(e)&&e!==this.#t);for(let e of r.slice(0,-10))this.#e.delete(e)}onKey(e,{repeat:t}){let n=[...this.#e.keys()];if((e===`j`||e===`k`)&&n.length>0){let t=this.#t===null?-1:n.indexOf(this.#t);return this.#t=n[Math.min(n.length-1,Math.max(0,t+(e===`j`?1:-1)))]??null,this.#o(),this.requestUpdate(),this.updateComplete.then(()=>this.querySelector(`.approval[aria-current]`)?.focus()),!0}if(e===`Escape`)return this.#o();if(e!==`a`&&e!==`r`)return!1;if(t)return!0;let r=this.#t===null?null:`[data-approval="${CSS.escape(this.#t)}"] bridge-decision`,i=r===null?null:this.querySelector(r);return i?.press(e===`a`?`approve`:`reject`),i!==null}#o(){return[...this.querySelectorAll(`bridge-decision`)].filter(e=>e.forget()).length>0}render(){let e=_(),{state:t}=this.context.attention,n=(this.#i.value??[]).filter(({approvalId:e,state:t})=>t!==`pending`&&!this.#e.has(e));return h`
      <h1>Approvals <span class="hint">${d(t.approvals.length,t.hasMoreApprovals)} waiting</span></h1>
      ${O(this.#i.error)}
      ${Bt()?h`<p><button @click=${this.#l}>Notify me in this browser</button></p>`:x}
      ${this.#e.size===0&&t.isLoaded?h`<p class="empty">No tool call waits for a decision.</p>`:x}
      <ol class="approvals">
        ${Pe(this.#e.values(),({approvalId:e})=>e,t=>this.#s(t,e))}
      </ol>
      ${t.hasMoreApprovals?h`<p class="hint">These are the oldest. Others appear when these are decided.</p>`:x}
      ${n.length===0?x:h`<h2>Decided</h2><ul class="rows">${n.map(t=>Wt(t,e))}</ul>`}
    `}#s(e,t){let{approvalId:n,toolName:r,agentId:i,provider:a,taskId:o,title:c,input:l,inputTruncated:u,cwd:d,createdAt:f,expiresAt:p}=e,m=this.context.attention.state.approvals.some(e=>e.approvalId===n),g=this.#i.value?.find(e=>e.approvalId===n&&e.state!==`pending`);return h`<li
      class="approval ${m?``:`over`}" tabindex="-1" aria-current=${this.#t===n?`true`:x} data-approval=${n}
      @focusin=${()=>this.#c(n)}
    >
      <h2><code>${s(r)}</code></h2>
      <p class="detail">
        ${i} · ${a} · <a href=${j(o)}>${c===null?x:h`${s(c)} · `}${o}</a> · asked ${ae(f,t)}
        ${m?h`· ${Ft(p,t)}`:x}
      </p>
      ${d==null?x:h`<p class="detail">Directory: <code>${s(d)}</code></p>`}
      ${u?h`<p class="note warning">This is only the beginning of the input. It is longer than Bridge stores.</p>`:x}
      ${g===void 0||m?h`<bridge-decision .approvalId=${n} .input=${l} .isOver=${!m} .expiresAt=${p} .context=${this.context}></bridge-decision>`:h`${B(l)}<p role="status">${Gt(g)}</p>`}
    </li>`}#c(e){this.#t=e,this.requestUpdate()}async#l(){await Notification.requestPermission(),this.requestUpdate()}};function Wt(e,t){return h`<li>
    ${Gt(e)} <code>${s(e.toolName)}</code>
    <span class="detail">${s(v(f(e.input),100))}</span>
    <a href=${j(e.taskId)}>${e.agentId}</a> ${D(e.createdAt,t)}
  </li>`}function Gt({state:e,decidedBy:t,reason:n}){return h`${N(e,e===`approved`?`✓`:`✕`,e)}
    <span class="detail">by ${t??`?`}${n===null||n===``?x:h`: ${s(n)}`}</span>`}customElements.define(`bridge-approvals`,Ut);async function Kt(e,{kind:t,receiver:n}){let r=t===`callback`?`/api/v2/callbacks/redeliver`:`/api/v2/webhooks/${encodeURIComponent(n)}/redeliver`,i=0,a=null;do{let o={...t===`callback`&&{origin:n},...a!==null&&{cursor:a}},s=await e.call(r,{method:`POST`,body:o});i+=s.redelivered,a=s.nextCursor}while(a!==null);return i}function qt(e,t){let n=e===`callback`?`callback`:`deliver`;return`${t} ${e===`callback`?`${n}${t===1?``:`s`}`:`${n}${t===1?`y`:`ies`}`}`}const Jt=[`CRITICAL`,`HIGH`,`MEDIUM`,`LOW`,`INFO`];function Yt(e){let t=Jt.indexOf(e??``);return t===-1?Jt.length:t}const Xt=[`multi_source_confirmed`,`outputs`,`single_source_findings`,`integration_findings`,`disputed_findings`,`disputed_outputs`,`withdrawn_findings`,`withdrawn_outputs`];function Zt(e,t){let n=V(e.result?.outputs),r=t.flatMap(Qt);if(r.length===0&&!(`verdict`in n&&`roles`in n))return null;let i=en(n,r),a=i.length>0?i:r;return{verdict:U(n.verdict),status:U(n.status),isPartial:n.partial_coverage===!0,skipped:H(n.skip_reasons).map(({bridge:e,reason:t})=>({bridge:String(e),reason:String(t)})),findings:Xt.flatMap(e=>H(n[e]).map(t=>nn(t,e))).toSorted((e,t)=>Yt(e.severity)-Yt(t.severity)),rounds:[...new Set(a.map(({round:e})=>e))].toSorted((e,t)=>e-t),roles:tn(a)}}function Qt(e){let t=$t(e);return t===null?[]:[{provider:e.provider,...t,task:e,answers:[]}]}function $t(e){let{role:t,domain:n,round:r}=V(V(e.metadata).council);return typeof t==`string`&&typeof r==`number`?{role:t,domain:U(n)??``,round:r}:null}function en(e,t){let n=(e,n)=>H(e).flatMap(({role:e,domain:r,round:i,answered:a,reason:o})=>{if(typeof e!=`string`||typeof i!=`number`)return[];let s=t=>t.role===e&&t.round===i&&t.domain===r,c=n===null?t.findLast(s):t.find(e=>e.provider===n&&s(e)),l=[{answered:a===!0,reason:U(o)??``}];return[{provider:n,role:e,domain:U(r)??``,round:i,task:c?.task,answers:l}]});return[...H(e.bridge_reports).flatMap(({bridge:e,roles:t})=>n(t,U(e))),...n(e.roles,U(e.bridge))]}function tn(e){let t=/* @__PURE__ */ new Map;for(let{provider:n,role:r,domain:i,round:a,task:o,answers:s}of e){let e=`${r} (${[n??`all runtimes`,i].filter(e=>e!==``&&e!==r).join(` · `)})`,c=t.get(e)??/* @__PURE__ */ new Map;c.set(a,{task:o,answers:[...c.get(a)?.answers??[],...s]}),t.set(e,c)}return[...t].map(([e,t])=>({name:e,turns:t}))}function nn(e,t){let n=`output`in e?V(e.output):e,r=H(n.positions).map(({bridge:e,id:t})=>`${String(e)} ${String(t)}`),i=Array.isArray(n.confirmed_by)?`confirmed by ${n.confirmed_by.join(`, `)}`:``,a=U(e.unresolved_challenge);return{id:U(n.id)??``,severity:U(n.severity),status:t.startsWith(`withdrawn`)?`withdrawn`:t.startsWith(`disputed`)?`disputed`:U(n.status)??``,title:U(n.title)??``,description:U(n.description)??``,evidence:U(n.evidence),action:U(n.action),raisedBy:r.length>0?r.join(`, `):U(n.agent)??U(n.source_bridge)??`the council`,note:a===null?i:`challenged: ${a}`}}const V=e=>typeof e==`object`&&e&&!Array.isArray(e)?e:{},H=e=>Array.isArray(e)?e.map(V):[],U=e=>typeof e==`string`?e:null,rn={all:()=>!0,errors:e=>e.kind===`tool`&&e.isError||e.kind===`child`&&e.task.state===`failed`,tools:e=>e.kind===`tool`,text:e=>e.kind===`text`};function an(e,t){let n=[],r=t.map(e=>({task:e,at:Date.parse(e.startedAt??e.createdAt)})).toSorted((e,t)=>e.at-t.at),i=null,a=e=>{for(;r[0]!==void 0&&r[0].at<e;)n.push({turn:i,entry:{kind:`child`,task:r[0].task}}),r.shift()};for(let t of e)for(let e of t.entries)r.length>0&&a(W(e)),i=t,n.push({turn:i,entry:e});return a(1/0),n}function W(e){return e.kind===`child`?Date.parse(e.task.startedAt??e.task.createdAt):Date.parse(e.kind===`tool`?e.invokedAt:e.at)}function on(e){return e.kind===`child`?e.task.finishedAt===null:e.kind===`tool`&&(e.completedAt===null||e.approval!==null&&e.approval.decision===null)}const sn=1.25,cn=1e3;function ln(e,{isRunning:t}){if(!t)return Math.max(1,e);let n=Math.max(0,Math.ceil(Math.log(Math.max(1,e/cn))/Math.log(sn)));return cn*sn**n}const un=[`command`,`cmd`],dn=[`description`,`reason`,`thought`];function fn(e){if(typeof e!=`object`||!e||Array.isArray(e))return v(G(e)??f(e));let t=Object.keys(e),n=[...un,...t.filter(e=>!dn.includes(e)),...t];for(let t of n){let n=Object.hasOwn(e,t)?G(e[t]):null;if(n!==null&&n!==``)return v(n)}return t.length===0?``:v(f(e))}function G(e){if(typeof e==`string`)return e;if(typeof e==`number`||typeof e==`boolean`)return String(e);if(!Array.isArray(e))return null;let t=e.map(G);return t.includes(null)?null:t.join(` `)}function pn(e){let t=mn(e);if(t!==null)return v(t,300);let{done:n,of:r,...i}=e,a=Object.entries(i).map(([e,t])=>`${e} ${G(t)??JSON.stringify(t)}`),[o]=Object.keys(i).length===1?Object.values(i).map(G):[],s=typeof n==`number`&&typeof r==`number`?[`${n} of ${r}`]:[];return v([...o==null?a:[o],...s].join(`, `),300)}function mn({phase:e,round:t,role:n,domain:r,id:i,severity:a,title:o,done:s,of:c}){return typeof e!=`string`||typeof t!=`number`?null:e===`finding`?`${G(n)??G(r)??`Council`}: finding ${G(i)??``} ${G(a)??``}: ${G(o)??``}`:typeof n==`string`?`Round ${t}, ${e}: ${n} answered${typeof s==`number`&&typeof c==`number`?`, ${s} of ${c}`:``}`:null}function hn(e){let t=$t(e);if(t===null)return{name:e.title??e.taskId,detail:`${e.agentId} · ${e.provider}`};let n=t.domain===``||t.domain===t.role?[]:[t.domain];return{name:t.role,detail:[e.provider,...n,`round ${t.round}`].join(` · `)}}var gn=class extends g{static properties={context:{attribute:!1}};#e=null;#t=null;#n=``;#r=null;#i=()=>{};connectedCallback(){super.connectedCallback(),this.#i=this.context.attention.subscribe(()=>this.requestUpdate())}disconnectedCallback(){super.disconnectedCallback(),this.#i()}async#a(e){await this.#s(async()=>{await this.context.api.call(`/api/v2/attention/acknowledge`,{method:`POST`,body:e}),this.context.attention.refresh(),this.#e!==null&&await this.#o()})}async#o(){this.#e=await this.context.api.call(`/api/v2/attention?acknowledged=true&limit=50`)}async#s(e){this.#t=null,await e().catch(e=>{this.#t=e instanceof E?e:new E(0,`unexpected`,String(e))}),this.requestUpdate()}#c(){this.#e===null?this.#s(()=>this.#o()):(this.#e=null,this.requestUpdate())}render(){let{approvals:e,faults:t,faultsAt:n,isLoaded:r}=this.context.attention.state,i=_(),a=new Date(n).toISOString(),o=[...vn(t),...yn(t,a),...bn(t)],c=t.counts.failure-o.filter(({choice:e})=>e.kind===`failure`).length;return h`
      ${O(this.#t)} ${this.#n===``?x:h`<p class="note info" role="status">${this.#n}</p>`}
      ${r&&e.length+o.length===0?h`<p class="empty">Nothing waits for a person.</p>`:x}
      <ul class="rows">
        ${e.slice(0,5).map(e=>h`<li>
            ${M(`approval`)}
            <a href=${k(`approvals`)}>${e.agentId} wants to call <code>${s(e.toolName)}</code></a>
            <code class="detail">${s(fn(e.input))}</code> ${D(e.createdAt,i)}
          </li>`)}
        ${o.map(e=>this.#m(e,i))}
      </ul>
      <p class="actions">
        ${c>0?h`<a href=${k(`tasks?state=failed`)}>${c} more failed ${c===1?`task`:`tasks`}</a>`:x}
        ${c>0&&this.#l()?this.#u(`Acknowledge all failed tasks`,{kind:`failure`,all:!0,until:a}):x}
        ${r?h`<button class="plain" aria-expanded=${this.#e!==null} @click=${this.#c}>Acknowledged faults</button>`:x}
      </p>
      ${this.#e===null?x:xn(this.#e,i)}
    `}#l(){return this.context.identity.scopes.includes(`dispatch`)}#u(e,t){return h`<button class="plain" @click=${()=>this.#a(t)}>${e}</button>`}#d(e){this.#r=e,this.requestUpdate()}async#f(e){this.#r=null,await this.#s(async()=>{this.#n=`Redelivery of ${qt(e.kind,await Kt(this.context.api,e))} started.`,this.context.attention.refresh()})}#p(e){let t=`${e.kind} ${e.receiver}`;return this.#r===t?h`<span role="status">Redeliver ${qt(e.kind,e.count)}?</span>
      <button class="small" @click=${()=>this.#f(e)}>Yes, redeliver</button>
      <button class="small" @click=${()=>this.#d(null)}>No</button>`:h`<button class="plain small" aria-label="Redeliver all dead to ${s(e.receiver)}" @click=${()=>this.#d(t)}>Redeliver all</button>`}#m({sign:e,name:t,link:n,detail:r,at:i,choice:a,dead:o},c){return h`<li>
      ${e} <a href=${n}>${s(t)}</a> <span class="detail">${s(r)}</span> ${D(i,c)}
      ${o!==void 0&&this.#l()?this.#p(o):x}
      ${this.#l()?h`<button class="plain small acknowledge" aria-label="Acknowledge ${s(t)}" @click=${()=>this.#a(a)}>Acknowledge</button>`:x}
    </li>`}};const _n=e=>N(`failed`,`✕`,e),vn=({data:e})=>e.filter(({kind:e})=>e===`failure`).map(({id:e,title:t,agentId:n,provider:r,detail:i,at:a})=>({sign:M(`failed`),name:t??e,link:j(e),at:a,detail:[...t===null?[]:[e],n,r,i].filter(e=>e!==null).join(` · `),choice:{kind:`failure`,id:e}})),yn=({data:e,receivers:t},n)=>t.map(({kind:t,receiver:r,count:i})=>{let a=e.find(e=>e.kind===t&&e.receiver===r);return{sign:_n(qt(t,i).replace(` `,` dead `)),dead:{kind:t,receiver:r,count:i},name:r,link:k(t===`callback`?`callbacks`:`webhooks?name=${encodeURIComponent(r)}`),detail:[a?.detail,i===1?a?.taskId:null].filter(e=>e!=null).join(` · `),at:a?.at??null,choice:{kind:t,receiver:r,until:n}}}),bn=({data:e})=>e.filter(({kind:e})=>e===`adapter`).map(({id:e,detail:t})=>({sign:ce(`offline`),name:e,link:k(`adapters#${encodeURIComponent(e)}`),detail:t??``,at:null,choice:{kind:`adapter`,id:e}}));function xn({data:e},t){return e.length===0?h`<p class="empty">No fault that still exists was acknowledged.</p>`:h`<ul class="rows" aria-label="Acknowledged faults">
    ${e.map(e=>h`<li>
        ${N(``,`·`,Sn[e.kind])} <span>${s(e.title??e.receiver??e.id)}</span>
        <span class="detail">${s(e.detail??``)}</span>
        <span class="detail">${Cn(e,t)}</span>
      </li>`)}
  </ul>`}const Sn={approval:`approval`,failure:`failed task`,callback:`dead callback`,delivery:`dead delivery`,adapter:`offline adapter`},Cn=({acknowledgedBy:e,acknowledgedAt:t},n)=>t===null?``:`acknowledged by ${e??`?`}, ${ie(t,n)}`;customElements.define(`bridge-needs-you`,gn);const wn=e=>/^[\w./:@-]+$/.test(e)&&!e.startsWith(`-`)?e:`'${e.replaceAll(`'`,`'\\''`)}'`,Tn=[`provider`,`agentId`,`message`,`taskId`,`model`,`systemPrompt`,`resumeToken`,`callbackUrl`],En=[`profile`,`approvals`],Dn=[`metadata`,`bridgeInput`,`responderInput`],On=[`task_description`,`scope`,`task_type`,`intensity`,`domains`,`provider`,`providers`],kn=[`domains`,`providers`],An={provider:`Adapter`,agentId:`Agent`,message:`Message`,profile:`Profile`,approvals:`Approvals`,model:`Model`,timeoutSeconds:`Time limit in seconds`,output:`Output`,outputPath:`Output file`,outputSchema:`JSON Schema of the output`,taskId:`Task id`,resumeToken:`Resume token`,callbackUrl:`Callback URL`,systemPrompt:`System prompt`,metadata:`Metadata`,bridgeInput:`Input of the adapter`,responderInput:`Input of the responder`,others:`Other fields of the dispatch`,"council.task_description":`Task`,"council.scope":`Scope`,"council.task_type":`Type`,"council.intensity":`Intensity`,"council.domains":`Domains`,"council.provider":`Runtime`,"council.providers":`Runtimes`,"council.others":`Other fields of the council`};function jn(e,t=`agent`){let n=[],r=t=>e[t]??``,i=e=>{if(r(e).trim()!==``)try{return de(r(e))}catch(t){n.push({path:e,message:`must be JSON: ${t.message}`});return}},a=i(`others`)??{};(typeof a!=`object`||!a||Array.isArray(a))&&n.push({path:`others`,message:`must be a JSON object`});let o={},s=e=>t===`agent`||e!==`message`&&e!==`bridgeInput`;for(let e of Tn.filter(s))r(e).trim()!==``&&(o[e]=e===`message`?r(e):r(e).trim());for(let e of En)r(e)!==``&&(o[e]=r(e));r(`timeoutSeconds`).trim()!==``&&(o.timeoutSeconds=Number(r(`timeoutSeconds`)));let c=Pn(r(`output`),r(`outputPath`),()=>i(`outputSchema`));c!==void 0&&(o.outputStrategy=c);for(let e of Dn.filter(s)){let t=i(e);t!==void 0&&(o[e]=t)}return t===`council`&&(o.bridgeInput={...Mn(e),...i(`council.others`)}),{body:{...o,...a},errors:n}}function Mn(e){let t=On.map(t=>[t,(e[`council.${t}`]??``).trim()]).filter(([,e])=>e!==``);return Object.fromEntries(t.map(([e,t])=>[e,kn.includes(e)?Nn(t):t]))}const Nn=e=>e.split(`,`).filter(e=>e!==``);function Pn(e,t,n){return e===`file`?{type:e,path:t.trim()}:e===`structured`?{type:e,schema:n()??{}}:e===``?void 0:{type:e}}function Fn(e){let{taskId:t,outputStrategy:n,timeoutSeconds:r,...i}=e,a={},o={},s=[...Tn,...En];for(let[e,t]of Object.entries(i))s.includes(e)&&typeof t==`string`?a[e]=t:e===`bridgeInput`?Object.assign(a,In(t),{bridgeInput:JSON.stringify(t,null,2)}):Dn.includes(e)?a[e]=JSON.stringify(t,null,2):o[e]=t;r!==void 0&&(a.timeoutSeconds=String(r));let{type:c=``,path:l=``,schema:u}=n??{};return Object.assign(a,{output:c,outputPath:l,...u!==void 0&&{outputSchema:JSON.stringify(u,null,2)}}),Object.keys(o).length>0&&(a.others=JSON.stringify(o,null,2)),a}function In(e){let t={},n={};for(let[r,i]of Object.entries(e??{})){let e=On.includes(r);e&&typeof i==`string`?t[`council.${r}`]=i:e&&Array.isArray(i)?t[`council.${r}`]=i.join(`,`):n[r]=i}return{...t,...Object.keys(n).length>0&&{"council.others":JSON.stringify(n,null,2)}}}function Ln(e,t=`agent`){let[n=``,r=``]=e.split(`.`);return t===`council`&&e===`council.others`?e:t===`council`&&n===`bridgeInput`?On.includes(r)?`council.${r}`:`council.others`:n===`outputStrategy`?r===`path`?`outputPath`:r===`schema`?`outputSchema`:`output`:[...Tn,...En,...Dn,`timeoutSeconds`,`outputPath`,`outputSchema`,`others`].includes(n)?n:null}function Rn(e,t){let n=t.replace(/^is required \(\w+\)$/,`is required`);return`${An[e]??e} ${n.replace(/[.;]$/,``)}.`}const zn=(e,t)=>[`curl ${wn(e)}`,`-H "Authorization: Bearer $BRIDGE_TOKEN"`,`-H "Content-Type: application/json"`,`-d ${wn(JSON.stringify(t))}`].join(` \\
  `),Bn=(e,t)=>`import { createBridgeClient } from "bridge-client";

const bridge = createBridgeClient({ url: ${JSON.stringify(e)}, token: process.env.BRIDGE_TOKEN ?? "" });
const { state, result } = await bridge.run(${JSON.stringify(t,null,2)});
console.log(state, result?.output);
`;async function Vn(e){return navigator.clipboard===void 0?`Needs HTTPS`:navigator.clipboard.writeText(e).then(()=>null,()=>`Not permitted`)}function Hn(e,t=`Copy`){return h`<button @click=${n=>{let r=n.currentTarget;Vn(e).then(e=>{r.textContent=e??`Copied`,setTimeout(()=>{r.textContent=t},2e3)})}} .textContent=${t}></button>`}
/**
* @license
* Copyright 2020 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/const Un=le(class extends c{constructor(e){if(super(e),e.type!==S.PROPERTY&&e.type!==S.ATTRIBUTE&&e.type!==S.BOOLEAN_ATTRIBUTE)throw Error("The `live` directive is not allowed on child or event bindings");if(!b(e))throw Error("`live` bindings can only contain a single expression")}render(e){return e}update(e,[t]){if(t===C||t===x)return t;let n=e.element,r=e.name;if(e.type===S.PROPERTY){if(t===n[r])return C}else if(e.type===S.BOOLEAN_ATTRIBUTE){if(!!t===n.hasAttribute(r))return C}else if(e.type===S.ATTRIBUTE&&n.getAttribute(r)===t+``)return C;return y(e),t}});function K(e,t){let{name:n,type:r=`text`,hint:i=``}=e,a=n.replaceAll(`.`,`-`),o=t.faultOf(n),c=[i===``?``:`${a}-hint`,o===``?``:`${a}-error`].filter(e=>e!==``).join(` `),l={id:a,invalid:o===``?x:`true`,described:c===``?x:c},u=h`${i===``?x:h`<p class="hint" id="${a}-hint">${i}</p>`}
    ${o===``?x:h`<p class="field-error" id="${a}-error">${s(o)}</p>`}`;return r===`list`?h`<fieldset class="wide" aria-describedby=${l.described}>
      <legend>${An[n]??n}</legend>
      ${Gn(e,t)} ${u}
    </fieldset>`:h`<div class=${r===`area`?`wide`:``}>
    <label for=${a}>${An[n]??n}</label>
    ${Wn(e,t,l)} ${u}
  </div>`}function Wn({name:e,type:t=`text`,list:n,none:r=`default`},i,a){let{id:o,invalid:s,described:c}=a,l=i.valueOf(e),u=t=>i.onEdit(e,t.target.value);if(t===`area`){let t=e===`message`||e===`council.task_description`;return h`<textarea
      id=${o} rows=${t?5:3} .value=${Un(l)} @input=${u} aria-invalid=${s} aria-describedby=${c}
      spellcheck=${t}
    ></textarea>`}return typeof t==`object`?h`<select id=${o} @change=${u} aria-invalid=${s} aria-describedby=${c}>
      ${r===null?x:h`<option value="" ?selected=${l===``}>${r}</option>`}
      ${t.map(e=>h`<option value=${e.value} ?selected=${e.value===l} ?disabled=${e.isDisabled===!0}>
          ${e.name??e.value}
        </option>`)}
    </select>`:h`<input
    id=${o} type=${t} .value=${Un(l)} @input=${u} list=${n??x} autocomplete="off" spellcheck="false"
    aria-invalid=${s} aria-describedby=${c}
  />`}function Gn({name:e,choices:t=[]},n){let r=Nn(n.valueOf(e)),i=r.filter(e=>!t.some(t=>t.value===e)).map(e=>({value:e})),a=t=>n.onEdit(e,(r.includes(t)?r.filter(e=>e!==t):[...r,t]).join(`,`));return h`<div class="choices">
    ${[...t,...i].map(e=>h`<label class="choice" title=${e.title??x}
        ><input type="checkbox" .checked=${Un(r.includes(e.value))} @change=${()=>a(e.value)} /> ${e.name??e.value}</label
      >`)}
  </div>`}const Kn=[`review`,`analysis`,`audit`,`planning`,`implementation`,`research`],qn=[{value:`inspect`},{value:`modify`}],Jn=[{value:`quick`,name:`quick: no debate`},{value:`standard`,name:`standard: one round of debate`},{value:`thorough`,name:`thorough: up to three rounds`}],Yn=e=>Xn(e).includes(`bridgeInput`),Xn=e=>e?.capabilities?.inputs??[];function Zn(e,{provider:t,adapters:n,domains:r}){let i=n.filter(e=>Xn(e).length===0).map(e=>({value:e.provider})),a=r.map(({name:e,expert:t})=>({value:e,title:t})),o=t===`deep-council`;return h`
    ${K({name:`council.task_description`,type:`area`,hint:`What the council should do.`},e)}
    ${K({name:`council.scope`,type:`area`,hint:`Files, topics or a description to work on.`},e)}
    ${K({name:`council.task_type`,type:Kn.map(e=>({value:e})),none:`choose one`},e)}
    ${K({name:`council.intensity`,type:Jn},e)}
    ${o?x:K({name:`council.provider`,type:i},e)}
    ${K({name:`profile`,type:qn,hint:`An implementation needs modify.`},e)}
    ${K({name:`timeoutSeconds`,type:`number`},e)}
    ${o?K({name:`council.providers`,type:`list`,choices:i,hint:`None: those of the settings.`},e):x}
    ${K({name:`council.domains`,type:`list`,choices:a,hint:o?`None: the council chooses from the text.`:`At least one. Each has an expert.`},e)}
  `}function Qn(e){let{provider:t}=e.filter(({health:e})=>e.status===`healthy`).find(e=>Xn(e).length===0)??{};if(t===void 0)return h`<p class="empty">No tasks yet, and no adapter is ready. <a href=${k(`adapters`)}>See why</a></p>`;let r=zn(new URL(`api/v2/dispatch`,n).href,{provider:t,agentId:`auditor`,message:`Count BRIDGE in *.md`,files:[{path:`notes.md`,content:`BRIDGE is one endpoint. BRIDGE loses no task.`}]});return h`<p class="empty">No tasks yet. <a href=${k(`new`)}>Dispatch one here</a>, or from a terminal with your token in BRIDGE_TOKEN:</p>
    <pre tabindex="0"><code>${r}</code></pre>
    <p>${Hn(r,`Copy as curl`)}</p>`}const $n=({costUsd:e,tasksWithoutCost:t})=>tr(r(e),e!==null&&t>0),er=(e,{tasksWithoutUsage:t})=>tr(p(e),e!==null&&t>0),tr=(e,t)=>t?`${e} + ?`:e,nr=[`cost`,`tokens`,`tasks`];function rr({data:e},t){if(t===`tasks`)return[{kind:`completed`,label:`completed`,values:e.map(({completed:e})=>e)},{kind:`failed`,label:`failed`,values:e.map(({failed:e})=>e)},{kind:`cancelled`,label:`canceled`,values:e.map(({cancelled:e})=>e)}];let n=t===`cost`?({costUsd:e})=>e:or,r=ar(e).map((t,n)=>({kind:`part-${n+1}`,label:t===null?`unknown model`:s(t),values:e.map(({parts:e=[]})=>i(e.find(e=>e.key===t)))}));function i(e){return e==null?0:n(e)}let a={kind:`others`,label:`others`,values:e.map(({otherParts:e})=>i(e))};return e.some(({otherParts:e})=>e!=null)?[...r,a]:r}const ir=(e,t)=>e===`cost`?r(t):p(t);function ar(e){let t=/* @__PURE__ */ new Map;for(let{key:n,costUsd:r,tasks:i}of e.flatMap(({parts:e=[]})=>e)){let{cost:e,tasks:a}=t.get(n)??{cost:0,tasks:0};t.set(n,{cost:e+(r??0),tasks:a+i})}return[...t].sort(([,e],[,t])=>t.cost-e.cost||t.tasks-e.tasks).map(([e])=>e)}const or=({inputTokens:e,outputTokens:t})=>e===null&&t===null?null:(e??0)+(t??0);function sr(e,t){if(e===null||t===null)return``;if(t===0)return e===0?`no change`:`none before`;let n=e/t;if(n>=10)return`${p(Math.round(n))} times`;let r=Math.round((n-1)*100);return r===0?`no change`:`${r>0?`+`:`−`}${Math.abs(r)} %`}var cr=class extends pe{#e=R(this,async e=>(await this.context.api.list(`/api/v2/tasks`,{root:`*`,limit:30},{signal:e})).data);#t=R(this,async e=>{let t=new Date(new Date(_()).setHours(0,0,0,0)).toISOString();return(await this.context.api.call(`/api/v2/stats?${new URLSearchParams({from:t,limit:`1`})}`,{signal:e})).total},{intervalMs:()=>15e3});#n=R(this,async e=>(await this.context.api.list(`/api/v2/tasks`,{state:`running`,root:`*`,limit:20},{signal:e})).data);#r=R(this,async e=>{let t=async t=>{let{data:n,meta:r}=await this.context.api.list(`/api/v2/tasks`,{state:t,limit:200},{signal:e});return d(n.length,r.nextCursor!==null)},[n,r]=await Promise.all([t(`running`),t(`queued`)]);return{running:n,queued:r}});#i;#a=[];connectedCallback(){super.connectedCallback();let{attention:e,feed:t}=this.context;this.#i=setInterval(()=>this.requestUpdate(),1e3),this.#a=[e.subscribe(()=>this.requestUpdate()),t.subscribe(()=>{this.#e.refresh(),this.#n.refresh()})]}disconnectedCallback(){super.disconnectedCallback(),clearInterval(this.#i);for(let e of this.#a)e()}render(){let{error:e}=this.context.attention.state,t=this.#t.value;return h`
      <h1>Overview</h1>
      ${O(e)}
      <ul class="figures">
        ${q(`Running`,this.#r.value?.running??``,`tasks?state=running`)}
        ${q(`Queued`,this.#r.value?.queued??``,`tasks?state=queued`)}
        ${q(`Failed today`,t?.failed??``,`tasks?state=failed`,(t?.failed??0)>0)}
        ${q(`Ended today`,t?.tasks??``,`usage?window=today`)}
        ${q(`Cost today`,t===void 0?``:$n(t),`usage?window=today`)}
      </ul>
      <section aria-labelledby="needs-you">
        <h2 id="needs-you">Needs you</h2>
        <bridge-needs-you .context=${this.context}></bridge-needs-you>
      </section>
      ${this.#o()}
    `}#o(){let{value:e=[],error:t}=this.#n,{value:n,error:r}=this.#e;if(n===void 0)return h`${O(r)}`;if(n.length===0)return Qn(this.context.attention.state.adapters);let i=_(),a=n.filter(P).toSorted((e,t)=>(t.finishedAt??``).localeCompare(e.finishedAt??``)).slice(0,10);return h`
      <section aria-labelledby="running">
        <h2 id="running">Running now</h2>
        ${O(t)}
        ${e.length===0?h`<p class="empty">Nothing runs.</p>`:x}
        <ul class="rows">${e.map(e=>ur(e,i))}</ul>
        ${e.length===20?h`<p><a href=${k(`tasks?state=running`)}>All running tasks</a></p>`:x}
      </section>
      <section aria-labelledby="recent">
        <h2 id="recent">Latest ended</h2>
        ${O(r)}
        <ul class="rows">
          ${a.map(e=>h`<li>
              ${M(w(e,i))} <a href=${j(e.taskId)}>${s(e.title??e.taskId)}</a>
              <span class="detail">${lr(e)}${re(e)}</span> ${D(e.finishedAt,i)}
            </li>`)}
        </ul>
        <p><a href=${k(`tasks`)}>All tasks</a></p>
      </section>
    `}};const lr=({taskId:e,title:t,agentId:n,provider:r})=>[...t===null?[]:[e],n,r].join(` · `);function ur(e,t){let{taskId:n,title:r,startedAt:i,lastProgressAt:a}=e;return h`<li>
    ${M(w(e,t))} <a href=${j(n)}>${s(r??n)}</a>
    <span class="detail">${lr(e)}</span>
    <span class="since"
      >${i===null?x:h`for <strong>${A(Math.floor((t-Date.parse(i))/1e3)*1e3)}</strong>`}
      ${a===null?x:h`<span class="detail">last event ${D(a,t)}</span>`}</span
    >
  </li>`}function q(e,t,n,r=!1){return h`<li class=${r?`urgent`:``}>
    <a href=${k(n)}><span class="value">${t}</span> <span class="label">${e}</span></a>
  </li>`}customElements.define(`bridge-overview`,cr);var dr=class extends g{static properties={reason:{attribute:!1},onSignIn:{attribute:!1}};#e(e){e.preventDefault();let t=new FormData(e.target),n=String(t.get(`token`)??``).trim();n!==``&&this.onSignIn(n,{remember:t.get(`remember`)===`on`})}firstUpdated(){this.querySelector(`#token`)?.focus()}render(){return h`
      <main class="sign-in">
        <h1>Bridge</h1>
        ${this.reason===null?x:h`<p class="note error" role="alert">${s(this.reason)}</p>`}
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
    `}};customElements.define(`bridge-sign-in`,dr);function fr({attempts:e,history:t},n){if(t.length===0)return x;let r=e-t.length;return h`<section aria-labelledby="attempts">
    <h2 id="attempts">Callback attempts <span class="hint">${e}</span></h2>
    <ul class="rows attempts">
      ${t.toReversed().map(e=>pr(e,n))}
    </ul>
    ${r===0?x:h`<p class="hint">Earlier attempts are no longer stored: ${r}.</p>`}
  </section>`}function pr({number:e,at:t,status:n,error:r,durationMs:i,response:a,responseTruncated:o},c){return h`<li>
    <strong>${e}</strong> <span>${n===null?`no response`:`HTTP ${n}`}</span>
    <span class="detail">${r===null?`delivered`:s(r)}, ${A(i)}</span>
    ${oe(t,c)}
    ${a===null||a===``?x:h`<details>
            <summary>Response ${o?h`<span class="hint">beginning</span>`:x}</summary>
            ${z(a)}
          </details>`}
  </li>`}const mr=`bridge.plain-text`,hr=/* @__PURE__ */ new Set,J={get isOn(){return localStorage.getItem(mr)!==null},toggle(){J.isOn?localStorage.removeItem(mr):localStorage.setItem(mr,`on`);for(let e of hr)e()},subscribe(e){return hr.add(e),()=>hr.delete(e)}};let gr=null;async function _r(){gr??=import(`./markdown-BDPeweBn.js`).catch(()=>null);let e=await gr;return e===null&&(gr=null),e}var vr=class extends g{static properties={text:{attribute:!1},level:{attribute:!1},isComplete:{attribute:!1}};#e={text:``,element:null};#t=()=>{};#n=new ResizeObserver(e=>{for(let{target:t}of e)t.scrollWidth>t.clientWidth||t.scrollHeight>t.clientHeight?t.setAttribute(`tabindex`,`0`):t.removeAttribute(`tabindex`)});connectedCallback(){super.connectedCallback(),this.#t=J.subscribe(()=>this.requestUpdate())}disconnectedCallback(){super.disconnectedCallback(),this.#t(),this.#n.disconnect(),this.#e={text:``,element:null}}willUpdate(e){this.isComplete&&!J.isOn&&this.#e.text!==this.text&&(this.#e={text:this.text,element:null},this.#r())}async#r(){let e=this.#e,t=await _r();e.text.length>500&&await new Promise(e=>setTimeout(e));let n=await t?.renderMarkdown(e.text,{level:this.level,show:s});if(n!=null&&e===this.#e){e.element=n,this.#n.disconnect();for(let e of n.querySelectorAll(`pre, .scroll`))this.#n.observe(e);this.requestUpdate()}}render(){let{text:e,element:t}=this.#e;return!this.isComplete||J.isOn||e!==this.text||t===null?z(this.text,{showsEnd:!this.isComplete}):h`${t}`}};customElements.define(`bridge-markdown-text`,vr);const Y=(e,{level:t,isComplete:n=!0})=>h`<bridge-markdown-text .text=${e} .level=${t} .isComplete=${n}></bridge-markdown-text>`;var yr=class extends g{static properties={taskId:{attribute:!1},heading:{attribute:!1},context:{attribute:!1}};#e=null;render(){return h`<details @toggle=${this.#n}>
      <summary>${s(this.heading)}</summary>
      ${this.#t()}
    </details>`}#t(){let e=this.#e;if(e===null)return x;if(e instanceof E)return h`${O(e)}`;let{output:t,outputs:n,error:r}=e.result??{};return h`
      ${t?br(t):n===void 0?h`<p class="empty">${s(r??`No answer.`)}</p>`:z(n)}
      <p><a href=${j(e.taskId)}>The task of this role</a></p>
    `}async#n(e){e.newState===`open`&&this.#e===null&&(this.#e=await this.context.api.call(`/api/v2/tasks/${encodeURIComponent(this.taskId)}`).catch(e=>e instanceof E?e:new E(0,`unreachable`,String(e))),this.requestUpdate())}};function br(e){try{return z(JSON.parse(e))}catch{return Y(e,{level:4})}}customElements.define(`bridge-answer`,yr);const xr={PASS:[`completed`,`✓`],CONCERNS:[`approval`,`!`],FAIL:[`failed`,`✕`]},Sr={SKIPPED:[`failed`,`✕`],HALTED:[`approval`,`!`],ABORTED:[`failed`,`✕`]},Cr=(e,t)=>(Object.hasOwn(e,t)?e[t]:void 0)??[``,`·`];function wr({verdict:e,status:t,isPartial:n,skipped:r,findings:i,rounds:a,roles:o},c,l){let[u,d]=Cr(xr,e??``),[f,p]=Cr(Sr,t??``);return h`<section aria-labelledby="council">
    <h2 id="council">Council ${e===null?x:N(u,d,e)}
      ${t===null||t===`COMPLETED`?x:N(f,p,t)}</h2>
    ${n?h`<p class="note warning">Not every requested runtime completed, so the coverage is partial.</p>`:x}
    ${r.map(({bridge:e,reason:t})=>h`<p class="note info"><strong>${e}</strong> did not take part: ${s(t)}</p>`)}
    ${o.length===0?x:h`<div class="scroll" tabindex="0" role="region" aria-label="Roles and rounds">
            <table class="council">
              <thead>
                <tr><th scope="col">Role</th>${a.map(e=>h`<th scope="col">Round ${e}</th>`)}</tr>
              </thead>
              <tbody>
                ${o.map(({name:e,turns:t})=>h`<tr>
                    <th scope="row">${s(e)}</th>
                    ${a.map(e=>h`<td>${Er(t.get(e),l)}</td>`)}
                  </tr>`)}
              </tbody>
            </table>
          </div>`}
    ${i.length===0?x:h`<h3>Findings <span class="hint">${i.length}</span></h3><ul class="rows findings">${i.map(Or)}</ul>`}
    ${Tr(o,c)}
  </section>`}function Tr(e,t){let n=e.flatMap(({name:e,turns:t})=>[...t].flatMap(([t,{task:n}])=>n===void 0||!P(n)?[]:[{name:e,round:t,taskId:n.taskId}]));return n.length===0?x:h`<details>
    <summary>Answers of the roles <span class="hint">${n.length}</span></summary>
    <ul class="rows findings">
      ${n.map(({name:e,round:n,taskId:r})=>h`<li><bridge-answer .taskId=${r} .heading=${`${e}, round ${n}`} .context=${t}></bridge-answer></li>`)}
    </ul>
  </details>`}function Er(e,t){if(e===void 0)return x;let{task:n,answers:r}=e,i=r.length>0?Dr(r):n===void 0?x:M(w(n,t)),a=r.filter(({answered:e})=>!e).map(({reason:e})=>e);return h`${n===void 0?i:h`<a href=${j(n.taskId)}>${i}</a>`}
    ${a.map(e=>h`<p class="detail">${s(e)}</p>`)}`}function Dr(e){let t=e.filter(({answered:e})=>e).length;return t===e.length?N(`completed`,`✓`,`answered`):t===0?N(`failed`,`✕`,`no answer`):N(`approval`,`!`,`${t} of ${e.length} answered`)}function Or({severity:e,status:t,title:n,description:r,evidence:i,action:a,raisedBy:o,note:c}){return h`<li>
    <details>
      <summary>
        ${e===null?x:N(e===`CRITICAL`||e===`HIGH`?`failed`:`approval`,`▲`,e)}
        ${N(``,`·`,t)} ${s(n)} <span class="detail">${s(o)}</span>
      </summary>
      ${c===``?x:h`<p class="detail">${s(c)}</p>`} ${Y(r,{level:4})}
      ${i===null?x:h`<h4>Evidence</h4>${z(i)}`} ${a===null?x:h`<h4>Action</h4>${Y(a,{level:5})}`}
    </details>
  </li>`}
/**
* @license
* Copyright 2018 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/
const kr={},Ar=le(class extends c{constructor(){super(...arguments),this.ot=kr}render(e,t){return t()}update(e,[t,n]){if(Array.isArray(t)){if(Array.isArray(this.ot)&&this.ot.length===t.length&&t.every((e,t)=>e===this.ot[t]))return C}else if(this.ot===t)return C;return this.ot=Array.isArray(t)?Array.from(t):t,this.render(t,n)}}),X=e=>Ar([e],()=>_e(e,{class:`icon`,"aria-hidden":`true`}));function jr(e,t){let n=e=>e.currentTarget.closest(`details`)?.removeAttribute(`open`);return h`<details class="menu" @focusout=${e=>{e.currentTarget.contains(e.relatedTarget)||n(e)}} @keydown=${e=>{e.key===`Escape`&&(n(e),e.currentTarget.querySelector(`summary`)?.focus())}}>
    <summary aria-label=${e}>${X(Ce)}</summary>
    <ul>
      ${t.map(({name:e,run:t})=>h`<li><button @click=${e=>{n(e),t()}}>${e}</button></li>`)}
    </ul>
  </details>`}const Mr={"+":`added`,"-":`removed`," ":`same`},Nr=/^(?:new file|deleted file|old mode|new mode|Binary files)/;function Pr(e,t){let n=[],r={path:``,notes:[],lines:[]},[i,a,o,s]=[0,0,0,0];function c(e){let t=Mr[e[0]];if(o+s>0&&t!==void 0){let[n,c]=[t!==`added`,t!==`removed`];r.lines.push({kind:t,oldNumber:n?i:null,newNumber:c?a:null,text:e.slice(1)}),n&&([i,o]=[i+1,o-1]),c&&([a,s]=[a+1,s-1])}else e.startsWith(`\\`)?r.lines.push({kind:`comment`,oldNumber:null,newNumber:null,text:e.slice(2)}):l(e)}function l(e){let t=/^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(e);t===null?e.startsWith(`diff --git `)?([o,s]=[0,0],r={path:Fr(e.slice(11)),notes:[],lines:[]},n.push(r)):Nr.test(e)&&r.notes.push(e):([i,o,a,s]=[t[1],t[2]??1,t[3],t[4]??1].map(Number),r.lines.push({kind:`hunk`,oldNumber:null,newNumber:null,text:e}))}let u=0;for(let r=0;u<e.length;r+=1){if(r===t)return{files:n,rest:u};let i=e.indexOf(`
`,u),a=i===-1?e.length:i;c(e.slice(u,a)),u=a+1}return{files:n,rest:null}}const Fr=e=>e.slice(0,(e.length-1)/2).replace(/^a\//,``),Ir=e=>e.split("`").map((e,t)=>t%2==1?h`<code>${s(e)}</code>`:s(e)),Lr=1e3,Rr=2e3,zr={bytes:`The diff is too long. Its end is missing.`,time:`git took too long. The end of the diff is missing.`,unreadable:`git could not read a file or an object. The end of the diff is missing.`};var Br=class extends g{static properties={context:{attribute:!1},taskId:{attribute:!1}};#e=`closed`;#t=Lr;async#n(){this.#e=`loading`,this.#t=Lr,this.requestUpdate();let e=`/api/v2/tasks/${encodeURIComponent(this.taskId)}/diff`;this.#e=await this.context.api.call(e).catch(e=>e instanceof E?e:new E(0,`unreachable`,String(e))),this.requestUpdate()}render(){let e=this.#e;if(e===`closed`)return h`<button @click=${this.#n}>Show the diff</button>`;if(e===`loading`)return h`<p role="status">Comparing with the commit at the start …</p>`;let t=e instanceof E?h`<p class="note ${e.code===`invalid_state`?`info`:`error`}" role="status">${Ir(e.message)}</p>`:this.#r(e);return h`${t} <button @click=${this.#n}>Compare again</button>`}#r({commit:e,directory:t,diff:n,diffBase64:r,truncated:a,omitted:o}){let{files:c,rest:l}=Pr(n,this.#t);return h`
      <p class="hint">
        Changes since commit <code>${e.slice(0,12)}</code>${t===``?``:h` in <code>${s(t)}</code>`}, as the
        files are now.
      </p>
      ${a===null?x:h`<p class="note warning">${zr[a]??`The end of the diff is missing.`}</p>`}
      ${typeof r==`string`?h`<p class="note info">Bytes that are not UTF-8 are shown as �.</p>`:x}
      ${o.length===0?x:h`<p class="note warning">Too large to be compared: ${s(o.join(`, `))}</p>`}
      ${n===``&&a===null?h`<p class="empty">No changes.</p>`:c.map(Vr)}
      ${l===null?x:h`<button @click=${this.#i}>Show more (${i(n.length-l)} left)</button>`}
    `}#i(){this.#t+=5e3,this.requestUpdate()}};function Vr({path:e,notes:t,lines:n}){return h`<div class="diff">
    <h3><code>${s(e)}</code></h3>
    ${t.map(e=>h`<p class="hint">${s(e)}</p>`)}
    ${n.length===0?x:h`<table aria-label="Changes of ${s(e)}"><tbody>${n.map(Ur)}</tbody></table>`}
  </div>`}const Hr={added:`+`,removed:`-`,same:` `,hunk:``,comment:``},Ur=({kind:e,oldNumber:t,newNumber:n,text:r})=>h`<tr class=${e}><td class="line">${t}</td><td class="line">${n}</td><td class="sign">${Hr[e]}</td><td class="code">${s(Wr(r))}</td></tr>`,Wr=e=>e.length<=Rr?e:`${e.slice(0,Rr)} … (${e.length-Rr} more characters)`;customElements.define(`bridge-task-diff`,Br);const Gr=(e,t)=>h`<section aria-labelledby="diff">
    <h2 id="diff">Diff</h2>
    <bridge-task-diff .taskId=${e} .context=${t}></bridge-task-diff>
  </section>`;function Kr({attempts:e,lastStatus:t,lastError:n,nextAttemptAt:r},i){let a=[`${e} ${e===1?`attempt`:`attempts`}`];return t!==null&&a.push(`HTTP ${t}`),n!==null&&n!==`http_${t}`&&a.push(s(n)),r!==null&&a.push(`next at ${ie(r,i)}`),a.join(`, `)}function qr(e,t){let{result:n,createdAt:i,startedAt:a,finishedAt:o}=e,s=o===null?t:Date.parse(o),c=n?.usage,l=[[`Started`,a===null?`not yet`:h`${oe(a,t)} <span class="detail">(${ae(a,t)})</span>`],[`Duration`,a===null?``:A(s-Date.parse(a))],[`Queue wait`,A((a===null?s:Date.parse(a))-Date.parse(i))],[`Cost`,n===null?``:r(n.costUsd)],[`Tokens`,n===null?``:c===void 0?`?`:`${p(c.inputTokens)} in, ${p(c.outputTokens)} out`]];return h`<dl class="task-figures">${l.map(([e,t])=>h`<div><dt>${e}</dt><dd>${t}</dd></div>`)}</dl>`}function Jr(e,t){let{result:n,callback:r}=e,i=Object.entries(e.labels),a=[[`Agent`,h`<a href=${k(`tasks?agentId=${encodeURIComponent(e.agentId)}`)}>${e.agentId}</a>`],[`Adapter`,h`<a href=${k(`adapters#${encodeURIComponent(e.provider)}`)}>${e.provider}</a>${n===null?x:` · ${n.connection}`}`],[`Model`,e.model??(n===null?null:`?`)],[`Labels`,i.length===0?null:i.map(([e,t])=>{let n=`${e}=${t}`;return h`<a class="chip" href=${k(`tasks?label=${encodeURIComponent(n)}`)}>${s(n)}</a> `})],[`Created`,oe(e.createdAt,t)],[`Ended`,e.finishedAt===null?null:oe(e.finishedAt,t)],[`Parent`,e.parentTaskId===null?null:h`<a href=${j(e.parentTaskId)}>${s(e.parentTaskId)}</a>`],[`Node`,e.node],[`Callback`,r===null?null:h`${te(r)} ${s(r.url)}
            <span class="detail">${P(e)?Kr(r,t):`starts when the task ends`}</span>`],[`Metadata`,e.metadata===null?null:h`<code>${s(v(f(e.metadata),400))}</code>`]];return h`<dl class="facts">
    ${a.filter(([,e])=>e!==null).map(([e,t])=>h`<div><dt>${e}</dt><dd>${t}</dd></div>`)}
  </dl>`}const Yr=86400;function Xr({state:e,errorCode:t,result:n,taskId:r,provider:i},a){if(e!==`failed`&&e!==`cancelled`)return x;let o=t??n?.errorCode??e,c=wt(o);return h`<section class="failure ${e}" aria-label="Why the task failed">
    <p><strong>${o}</strong> ${s(v(n?.error??c?.cause??``,500))}</p>
    ${c===null?x:h`<p class="advice">${n?.error===void 0?x:h`${Ir(c.cause)} `}${Ir(c.advice)}</p>
            <div class="actions">${c.remedies.map(e=>Zr(e,{taskId:r,provider:i},a))}</div>`}
  </section>`}function Zr(e,{taskId:t,provider:n},{mayDispatch:r,timeoutSeconds:i,runAgain:a}){switch(e){case`open_adapter`:return h`<a class="button" href=${k(`adapters#${encodeURIComponent(n)}`)}>Open the adapter ${n}</a>`;case`change_request`:return r?h`<a class="button" href=${k(`new?from=${encodeURIComponent(t)}`)}>Run again with changes</a>`:x;case`run_again`:return r?h`<button @click=${()=>a({})}>Run again</button>`:x;case`run_longer`:{if(!r||i===null||i>=Yr)return x;let e=Math.min(Yr,2*i);return h`<button @click=${()=>a({timeoutSeconds:e})}>Run again with ${A(e*1e3)}</button>`}}}function Qr({start:e,length:t},n,r,{label:i,kind:a=``}){let o=n=>Math.min(100,Math.max(0,(n-e)/t*100));return h`<svg class="lane" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label=${i}>
    <rect class="track" width="100" height="8" />
    <rect class="bar ${a}" x=${Math.min(99,o(n))} width=${Math.max(1,o(r)-o(n))} height="8" />
  </svg>`}var $r=class extends g{static properties={call:{attribute:!1},revision:{attribute:!1},offset:{attribute:!1},axis:{attribute:!1},now:{attribute:!1},isRunning:{attribute:!1},isForced:{attribute:!1}};#e=!1;willUpdate(e){e.has(`isForced`)&&e.get(`isForced`)!==void 0?this.#e=this.isForced:this.isForced&&!this.hasUpdated&&(this.#e=!0)}render(){let{toolName:e,input:t,isError:n,completedAt:r,invokedAt:i}=this.call,a=Date.parse(i),o=r===null?this.isRunning?this.now:a:Date.parse(r),c=r===null?this.isRunning?`running for ${A(o-a)}`:`no result`:A(o-a),l=n?`failed`:r===null?`open`:``;return h`<details class=${n?`is-error`:``} ?open=${this.#e} @toggle=${this.#t}>
      <summary>
        <span class="offset">${this.offset}</span>
        <span class="line" title=${s(fn(t))}
          ><code class="tool">${s(e)}</code> <span class="input">${s(fn(t))}</span> ${n?N(`failed`,`✕`,`error`):x}</span
        >
        ${Qr(this.axis,a,o,{label:c,kind:l})}
        <span class="time ${l}">${c}</span>
      </summary>
      ${this.#e?this.#n():x}
    </details>`}#t(e){let t=e.newState===`open`;t!==this.#e&&(this.#e=t,this.requestUpdate())}#n(){let{input:e,output:t,completedAt:n,isTruncated:r}=this.call;return h`<div class="body">
      ${r?h`<p class="note warning">Bridge cut this call, because it is longer than an event may be.</p>`:x}
      <h4>Input</h4>
      ${B(e)}
      ${n===null?x:h`<h4>Output</h4>${z(t)}`}
    </div>`}};customElements.define(`bridge-call`,$r);function ei(e,t,{at:n,onMove:r}){let i=e.map(({entry:e})=>W(e)),a=n=>{let a=Number(n.target.value),o=a===159?-1:i.findIndex(e=>e>=t.start+a/160*t.length);r(o===-1?e.length-1:o)},o=i[n]===void 0?0:ti(i[n],t);return h`<div class="minimap">
    <svg viewBox="0 0 ${160} ${24}" preserveAspectRatio="none" aria-hidden="true">
      <path class="bars" d=${ri(ni(i,t))} />
      <path class="failed" d=${ri(ni(i.filter((t,n)=>rn.errors(e[n].entry)),t))} />
    </svg>
    <input type="range" min="0" max=${159} .value=${String(o)} aria-label="Time in the timeline" @change=${a} />
  </div>`}const ti=(e,{start:t,length:n})=>Math.min(159,Math.max(0,Math.floor((e-t)/n*160)));function ni(e,t){let n=Array.from({length:160},()=>0);for(let r of e)n[ti(r,t)]=n[ti(r,t)]+1;return n}function ri(e){return e.map((e,t)=>{let n=e===0?0:Math.min(24,6+4*Math.log2(e));return n===0?``:`M${t} 24v${-n}h0.8v${n}z`}).join(``)}var ii=class extends g{static properties={timeline:{attribute:!1},task:{attribute:!1},childTasks:{attribute:!1},context:{attribute:!1},now:{attribute:!1},count:{attribute:!1}};#e=`all`;#t=null;#n=null;#r=100;#i=!1;#a=null;#o=!1;updated(e){let{marked:t}=this.timeline;if(t===null||this.#o)return;let n=this.querySelector(`.marked`);if(n!==null){this.#o=!0,n.scrollIntoView({block:`center`});return}let r=this.#s().findIndex(({entry:e})=>e===t);r!==-1&&this.#c(r)}#s(){let{entryCount:e,turns:t}=this.timeline;return(this.#a?.entryCount!==e||this.#a.childTasks!==this.childTasks)&&(this.#a={entryCount:e,childTasks:this.childTasks,rows:an(t,this.childTasks)}),this.#a.rows}#c(e){this.#n=Math.max(0,e-5),this.#r=100,this.requestUpdate()}#l(e){return()=>{e(),this.requestUpdate()}}#u(){let{startedAt:e,createdAt:t,finishedAt:n}=this.task,r=Date.parse(e??t);return{start:r,length:ln((n===null?this.now:Date.parse(n))-r,{isRunning:!P(this.task)})}}render(){let e=this.#s(),t=!P(this.task);if(e.length===0)return h`<p class="empty">No text and no tool calls${t?` yet`:``}.</p>`;let n=this.#u(),r=this.#e===`all`?e:e.filter(({entry:e})=>rn[this.#e](e)),i=this.#t??t,a=this.#n??(i?Math.max(0,r.length-this.#r):0),o=this.#n===null&&i?r.length:Math.min(r.length,a+this.#r),s=a===0?x:this.#p(`earlier`,a,()=>this.#f(a)),c=o===r.length?x:this.#p(`later`,r.length-o,()=>this.#d(a));return h`
      ${this.#m(e,i)}
      ${r.length<40?x:Ar([si(r.length),n.length,this.#e,a],()=>ei(r,n,{at:a,onMove:e=>this.#c(e)}))}
      ${i?c:s}
      ${r.length===0?h`<p class="empty">Nothing in the timeline matches.</p>`:this.#h(r.slice(a,o),n,i)}
      ${i?s:c}
    `}#d(e){this.#n=e,this.#r+=100}#f(e){let t=Math.min(100,e);this.#n!==null&&(this.#n=e-t),this.#r+=t}#p(e,t,n){return h`<button class="plain" @click=${this.#l(n)}>Show ${Math.min(100,t)} ${e} entries (${t} left)</button>`}#m(e,t){let n=e=>this.#l(()=>{this.#e=e,this.#n=null,this.#r=100});return h`<div class="timeline-tools">
      <div role="group" aria-label="Entries">
        ${Object.keys(rn).map(t=>{let r=e.filter(({entry:e})=>rn[t](e)).length;return h`<button aria-pressed=${t===this.#e} @click=${n(t)}>${ai[t]} <span class="detail">${r}</span></button>`})}
      </div>
      <button class="plain" aria-pressed=${this.#i} @click=${this.#l(()=>{this.#i=!this.#i})}>Open all</button>
      <button class="plain" @click=${this.#l(()=>{this.#t=!t,this.#n=null})}>${t?`Newest first`:`Oldest first`}</button>
    </div>`}#h(e,t,n){let r=!P(this.task),i=ci(e),a={axis:t,now:this.now,isRunning:r,answer:this.task.result?.output??null};return h`<div class="axis" aria-hidden="true"><span><span>0 s</span><span>${A(t.length)}</span></span></div>
      <ol class="timeline">
        ${Pe(n?i.toReversed():i,({turn:e,entries:t})=>e?.number??`child ${W(t[0])}`,({turn:e,entries:i})=>{let o=r&&i.some(on)?this.now:Math.floor(this.now/6e4),s=i.map(e=>e.kind===`child`?`${e.task.taskId} ${e.task.state}`:``).join(),c=e===this.timeline.turns.at(-1),l=[e,e?.revision,i.length,i[0],s,r,c,o,t.length,this.timeline.marked,this.#i,n,a.answer];return h`<li>${Ar(l,()=>this.#g(e,n?i.toReversed():i,a))}</li>`})}
      </ol>`}#g(e,t,n){let{marked:r}=this.timeline,i=e!==null&&oi(e);return h`${i?h`<h3 title=${ie(e.startedAt,n.now)}>Turn ${e.number}</h3>`:h`<span></span>`}
      <div class="entries">
        ${t.map(e=>h`<div class="entry ${e.kind} ${e===r?`marked`:``}">${this.#_(e,n)}</div>`)}
      </div>`}#_(e,t){let{axis:n,isRunning:r,answer:i}=t,a=li(W(e)-n.start),o=h`<span class="offset">${a}</span>`;switch(e.kind){case`text`:return e.isDiscarded?h`${o}<p class="hint">The runtime discarded ${e.text.length} characters of text.</p>`:i!==null&&e.text.trim()===i.trim()?h`${o}<p class="hint">The answer, which is shown as the result.</p>`:h`${o}
          <div class="answer">${Y(e.text,{level:4,isComplete:!r||e!==this.timeline.turns.at(-1)?.entries.at(-1)})}</div>`;case`progress`:return h`${o}<p class="progress">${s(pn(e.data))}</p>`;case`child`:return h`${o}${ui(e.task,t)}`;case`tool`:return h`<bridge-call
            .call=${e} .offset=${a} .axis=${n} .now=${on(e)?t.now:0} .isRunning=${r}
            .revision=${`${e.completedAt}${e.isTruncated}`} .isForced=${this.#i}
          ></bridge-call>
          ${di(e,this.context,t)}`}}};const ai={all:`All`,errors:`Errors`,tools:`Tools`,text:`Text`},oi=({entries:e})=>e.some(({kind:e})=>e!==`progress`),si=e=>Math.floor(Math.log(e)/Math.log(1.02));function ci(e){let t=[];for(let{turn:n,entry:r}of e){let e=t.at(-1);e!==void 0&&e.turn===n?e.entries.push(r):t.push({turn:n,entries:[r]})}return t}function li(e){let t=Math.max(0,e)/1e3;if(t<10)return`+${t.toFixed(1)} s`;let n=e=>String(Math.floor(e)).padStart(2,`0`),[r,i]=[Math.floor(t/3600),Math.floor(t%3600/60)];return r===0?`+${i}:${n(t%60)}`:`+${r}:${n(i)}:${n(t%60)}`}function ui(e,{axis:t,now:n}){let{name:r,detail:i}=hn(e),a=W({kind:`child`,task:e}),o=e.finishedAt===null?n:Date.parse(e.finishedAt),c=e.startedAt===null?`not started`:A(o-a);return h`<span class="line">${e.state===`completed`?`↳`:M(w(e,n))} <a href=${j(e.taskId)}>${s(r)}</a> <span class="detail">${s(i)}</span></span>
    ${Qr(t,a,e.startedAt===null?a:o,{label:`Child task: ${c}`,kind:e.state===`failed`?`failed`:`child`})}
    <span class="time">${c}</span>`}function di(e,t,{isRunning:n,now:r}){let{approval:i}=e;return i===null?x:i.decision===null?n?h`<div class="waiting">
    <p>${N(`approval`,`!`,`needs approval`)} ${Ft(i.expiresAt,r)}</p>
    <bridge-decision .approvalId=${i.approvalId} .input=${e.input} .isOver=${fe(i,r)} .expiresAt=${i.expiresAt}
      .context=${t}
    ></bridge-decision>
  </div>`:x:h`<p class="hint decided">
      ${i.decision===`approve`?`Approved`:`Rejected`} by ${i.by}${i.reason===null?``:`: ${s(i.reason)}`}
    </p>`}customElements.define(`bridge-timeline`,ii);const fi=(e,t,n,r,i)=>h`<bridge-timeline .timeline=${e} .count=${e.count} .task=${t} .childTasks=${n} .context=${r} .now=${i}></bridge-timeline>`;function pi(e=null){let t=[],n=/* @__PURE__ */ new Map,r=/* @__PURE__ */ new WeakMap,i=0,a=0,o,s=null,c=0,l=null,u=e=>i===0&&e.entries.some(({kind:e})=>e===`tool`);function d(e,{isModel:n}){let r=t.at(-1);if(r!==void 0&&!(n&&u(r)))return r;let i={number:t.length+1,startedAt:e,entries:[],revision:0};return t.push(i),i}function f(e,t){return e.entries.push(t),r.set(t,e),a+=1,t}function p(e,t){let n=d(e,{isModel:!0}),r=n.entries.at(-1);return r?.kind===`text`&&!r.isDiscarded?Object.assign(r,{text:r.text+t}):f(n,{kind:`text`,at:e,text:t,isDiscarded:!1})}function m(e,{toolCallId:t,toolName:r,input:a}){let o=n.get(t);if(o!==void 0)return o;let s=f(d(e,{isModel:!0}),mi(e,{toolCallId:t,toolName:r,input:a}));return n.set(t,s),i+=1,s}function h(e,t){let n=m(e,{...t,input:null});return n.completedAt===null&&--i,Object.assign(n,{completedAt:e,output:t.output,isError:t.isError})}function g(e){let{timestamp:r}=e;switch(e.type){case`assistant.text`:return p(r,e.data.content);case`assistant.text_discarded`:return hi(t),null;case`tool.invoked`:{let t=m(r,e.data);return t.isTruncated||=e.data.truncated===!0,t}case`tool.completed`:{let t=h(r,e.data);return t.isTruncated||=e.data.truncated===!0,t}case`tool.approval_requested`:{let{approvalId:t,expiresAt:n}=e.data;return Object.assign(m(r,e.data),{approval:{approvalId:t,expiresAt:n,decision:null,by:null,reason:null}})}case`tool.approval_resolved`:{let{toolCallId:t,decision:r,by:i,reason:a}=e.data,o=n.get(t);return o?.approval!=null&&Object.assign(o.approval,{decision:r,by:i,reason:a}),o??null}case`execution.progress`:return f(d(r,{isModel:!1}),{kind:`progress`,at:r,data:e.data});default:return null}}return{turns:t,get marked(){return l},get lastEventId(){return o},get lastEventAt(){return s},get entryCount(){return a},get count(){return c},add(t){o=t.id,s=t.timestamp,c+=1;let n=g(t);n!==null&&(r.get(n).revision+=1),t.id===e&&(l=n)}}}const mi=(e,t)=>({kind:`tool`,...t,invokedAt:e,completedAt:null,output:null,isError:!1,isTruncated:!1,approval:null});function hi(e){for(let t of e.toReversed())for(let e of t.entries.toReversed()){if(e.kind===`tool`)return;e.kind===`text`&&(e.isDiscarded=!0,t.revision+=1)}}var gi=class extends pe{#e=pi();#t=!1;#n=null;#r=!1;#i=!1;#a=null;#o=``;#s=null;#c;#l=()=>{};#u;#d=null;#f=R(this,e=>this.#m(e),{intervalMs:()=>this.#p()?6e4:Tt});connectedCallback(){super.connectedCallback(),this.#c=setInterval(()=>this.requestUpdate(),1e3),this.#l=this.context.feed.subscribe(e=>{(e?.some(({taskId:e})=>e===this.route.id)??!0)&&this.#f.refresh()}),this.#e=pi(this.route.query.get(`event`)),this.#r=!1,this.#n=new AbortController,this.#v(this.#n.signal)}disconnectedCallback(){super.disconnectedCallback(),clearInterval(this.#c),this.#l(),this.#n?.abort()}get paintGapMs(){return this.#f.value===void 0?0:100}#p(){let e=this.#f.value?.task;return e!==void 0&&P(e)&&e.callback?.state!==`pending`}async#m(e){let{api:n}=this.context,r=`/api/v2/tasks/${encodeURIComponent(this.route.id)}`,i=this.#f.value===void 0,a=()=>n.list(`${r}/files`,{limit:200},{signal:e}).catch(()=>null),[o,c,l,u]=await Promise.all([n.call(r,{signal:e}),n.list(`/api/v2/tasks`,{parentTaskId:this.route.id,limit:200},{signal:e}),this.#u??this.#g(r,e),i?a():null]);this.#u=l,i&&this.dispatchEvent(new CustomEvent(t,{detail:s(o.title??o.taskId),bubbles:!0})),i&&(this.#i=P(o));let[d,f,p]=await Promise.all([P(o)?u??a():null,this.#_(o,e),o.state===`queued`?this.#h(o,e):null]);return{task:o,children:c.data.toReversed(),files:d?.data??[],request:l,callback:f,ahead:p}}async#h({provider:e,createdAt:t},n){let r={state:`queued`,provider:e,createdBefore:t,limit:200},{data:i,meta:a}=await this.context.api.list(`/api/v2/tasks`,r,{signal:n});return d(i.length,a.nextCursor!==null)}async#g(e,t){let{request:n,masked:r}=await this.context.api.call(`${e}/request`,{signal:t}),{message:i,...a}=n;return{message:i,fields:a,isMasked:r.length>0}}async#_({taskId:e,callback:t},n){return t===null||t.attempts===0?null:(this.#d?.attempts!==t.attempts&&(this.#d=await this.context.api.call(`/api/v2/callbacks/${encodeURIComponent(e)}`,{signal:n})),this.#d)}async#v(e){let t=()=>{this.#t=!0};try{for await(let n of this.context.feed.followTask(this.route.id,{signal:e,onGap:t}))this.#e.add(n),this.requestUpdate();let n=this.#f.value?.task;n!==void 0&&!P(n)&&this.#f.refresh()}catch(t){e.aborted||(this.#a=t)}this.#r=!0,this.requestUpdate()}async#y(e,t){this.#s=null,this.#o=await e().then(()=>t,e=>e instanceof E?e.message:String(e)),this.#f.refresh(),this.requestUpdate()}#b(e=``){return`/api/v2/tasks/${encodeURIComponent(this.route.id)}${e}`}#x={cancel:()=>void this.#y(()=>this.context.api.call(this.#b(`/cancel`),{method:`POST`}),`Cancellation requested. The task ends when its runtime has stopped.`),delete:()=>void this.#y(async()=>{await this.context.api.call(this.#b(),{method:`DELETE`}),T(k(`tasks`))},`Deleted.`)};#S(e){let{message:t,fields:n,isMasked:r}=this.#u;if(r){T(k(`new?from=${encodeURIComponent(this.route.id)}`));return}let{taskId:i,...a}=n,o={...a,...t!==void 0&&{message:t},...e};this.#y(async()=>{let{taskId:e}=await this.context.api.call(`/api/v2/dispatch`,{method:`POST`,body:o});T(j(e))},``)}async#C({path:e}){let t=e.split(`/`).map(encodeURIComponent).join(`/`);try{At(await this.context.api.download(`/api/v2/tasks/${encodeURIComponent(this.route.id)}/files/${t}`),e.split(`/`).at(-1)??`file`)}catch(e){this.#o=e instanceof E?e.message:String(e),this.requestUpdate()}}render(){let{value:e,error:t}=this.#f;if(t?.status===404)return this.#O();if(e===void 0)return h`<h1>${s(this.route.id)}</h1>${t===null?h`<p role="status">Loading …</p>`:O(t)}`;let{task:n}=e,r=_(),i=Zt(n,e.children);return h`
      ${this.#T(n,r)} ${O(t)}
      ${this.#o===``?x:h`<p class="note info" role="status">${s(this.#o)}</p>`}
      <div class="task-layout">
        <aside aria-label="Details">${Jr(n,r)}</aside>
        <div class="task-main">
          ${Xr(n,{mayDispatch:this.#w(),timeoutSeconds:e.request.isMasked?null:bi(e.request.fields.timeoutSeconds)??600,runAgain:e=>this.#S(e)})}
          ${this.#P(e,r)} ${i===null?x:wr(i,this.context,r)}
          ${this.#F(n,{isFolded:i!==null&&i.findings.length>0})} ${Si(e.request)}
          <section aria-labelledby="timeline">
            <h2 id="timeline">Timeline <span class="hint">${this.#e.count} events</span></h2>
            ${this.#t?h`<p class="note warning">Earlier events of this task have been deleted.</p>`:x}
            ${this.#a===null||this.#f.error!==null?x:h`<p class="note error" role="alert">The events cannot be read: ${String(this.#a)}</p>`}
            ${this.#i&&!this.#r?h`<p role="status">Loading …</p>`:fi(this.#e,n,e.children,this.context,r)}
          </section>
          ${e.callback===null?x:fr(e.callback,r)} ${this.#I(e.files)}
          ${n.startedAt===null?x:Gr(n.taskId,this.context)}
        </div>
      </div>
    `}#w(){return this.context.identity.scopes.includes(`dispatch`)}#T(e,t){return h`<div class="task-head">
      <p class="crumb">
        <a href=${k(`tasks`)}>Tasks</a> / <code>${s(e.taskId)}</code>
        <button class="plain small" @click=${()=>this.#E(e.taskId,`id`)} aria-label="Copy the id">${X(Se)}</button>
      </p>
      <div class="page-head">
        <h1>${s(e.title??e.taskId)} ${M(w(this.#D(e),t))}</h1>
        ${this.#k(e)}
      </div>
      ${qr(e,t)}
    </div>`}async#E(e,t){this.#o=await Vn(e)??`Copied the ${t}.`,this.requestUpdate()}#D(e){let{lastEventAt:t}=this.#e;return t!==null&&t>(e.lastProgressAt??``)?{...e,lastProgressAt:t,waitingOn:e.waitingOn===`runtime`?null:e.waitingOn}:e}#O(){return h`<h1>${s(this.route.id)}</h1>
      <p class="note warning">
        There is no such task. It never existed, belongs to another tenant, was deleted, or ended longer ago than Bridge keeps tasks
        (<code>BRIDGE_RETENTION_DAYS</code>).
      </p>
      <p><a href=${k(`tasks`)}>All tasks</a></p>`}#k(e){let t=P(e),{taskId:n}=e,r=[{name:`Copy the link`,run:()=>void this.#E(j(n),`link`)},{name:`Copy as curl`,run:()=>void this.#E(xi(this.#b()),`curl command`)},{name:`Copy as command`,run:()=>void this.#E(`brg task ${wn(n)}`,`command`)},{name:`Save as JSON`,run:()=>At(new Blob([JSON.stringify(e,null,2)],{type:`application/json`}),`${n}.json`)},{name:J.isOn?`Show Markdown`:`Show plain text`,run:()=>this.#M()},...this.#w()&&t?[{name:`Delete …`,run:()=>this.#N(`delete`)}]:[]];return h`<div class="actions">${this.#A(e)} ${jr(`More actions`,r)}</div>`}#A(e){return this.#w()?this.#s===null?h`
      ${P(e)?x:h`<button class="danger" @click=${()=>this.#N(`cancel`)}>Cancel</button>`}
      ${e.callback?.state===`dead`?h`<button @click=${this.#j}>Redeliver the callback</button>`:x}
      ${e.state===`completed`?h`<button @click=${()=>this.#S({})}>Run again</button>`:x}
      <a class="button" href=${k(`new?from=${encodeURIComponent(e.taskId)}`)}>Run again with changes</a>
    `:h`<span>${_i[this.#s]}</span>
        <button class="danger" @click=${this.#x[this.#s]}>Yes, ${this.#s}</button>
        <button @click=${()=>this.#N(null)}>No</button>`:x}#j(){let e=`/api/v2/callbacks/${encodeURIComponent(this.route.id)}/redeliver`;this.#y(()=>this.context.api.call(e,{method:`POST`}),`Redelivery started.`)}#M(){J.toggle(),this.requestUpdate()}#N(e){this.#s=e,this.requestUpdate()}#P({task:e,ahead:t},n){let r=this.#D(e);switch(w(r,n)){case`queued`:return h`<p class="note info">
          The task ${ne(e)||`is queued`}. Your tasks for this adapter that were queued before it: ${t??`?`}.
        </p>`;case`approval`:return h`<p class="note warning">A tool call waits for your decision, in the timeline.</p>`;case`silent`:{let e=r.lastProgressAt??r.startedAt;return h`<p class="note warning">No event for ${e===null?`?`:A(n-Date.parse(e))}.</p>`}default:return x}}#F({result:e,state:t},{isFolded:n}){if(e===null)return x;let{error:r,output:i,outputs:a}=e,o=r!==void 0&&t!==`completed`;if(o&&!yi(r)&&!i&&a===void 0)return x;let s=i===void 0||i===``?x:Y(vi(i),{level:3});return h`<section aria-labelledby="result">
      <h2 id="result">${o?`Error`:`Result`}</h2>
      ${o?z(r):x}
      ${n&&s!==x?h`<details><summary>The whole report</summary>${s}</details>`:s}
      ${a===void 0?x:h`<details ?open=${!i}><summary>Structured output</summary>${z(a)}</details>`}
      ${r===void 0&&!i&&a===void 0?h`<p class="empty">No output.</p>`:x}
    </section>`}#I(e){return e.length===0?x:h`<section aria-labelledby="files">
      <h2 id="files">Files <span class="hint">${e.length}${e.length===200?`+`:``}</span></h2>
      <ul class="rows">
        ${e.map(e=>h`<li>
            <code>${s(e.path)}</code> <span class="detail">${i(e.bytes)}</span>
            <button @click=${()=>this.#C(e)} aria-label="Download ${s(e.path)}">Download</button>
          </li>`)}
      </ul>
    </section>`}};const _i={cancel:`Cancel this task and its child tasks?`,delete:`Delete this task with its events and its callback?`},vi=e=>e.replace(/^---\n(?:[\w-]+: .*\n)+---\n/,``),yi=e=>e.length>400||e.includes(`
`),bi=e=>typeof e==`number`?e:null,xi=e=>`curl ${wn(new URL(e.slice(1),n).href)} -H "Authorization: Bearer $BRIDGE_TOKEN"`;function Si({message:e,fields:t}){return h`<section aria-labelledby="request">
    <h2 id="request">Request</h2>
    ${typeof e==`string`&&e!==``?z(e):x}
    <details><summary>All fields</summary>${z(t)}</details>
  </section>`}customElements.define(`bridge-task`,gi);function Ci(e,t,n){let r=new Set(t),i=[...e].filter(([e])=>!r.has(e)).map(([,e])=>e),a=n&&2*i.length>=e.size?i:[],o=Math.max(-1,...e.values())+1,s=()=>(o+=1,o-1);return new Map(t.map(t=>[t,e.get(t)??a.shift()??s()]))}function wi(){let e=/* @__PURE__ */ new Map,t=[],n=[],r=0,i=[];function a(){let e=r;return i.push(e),e}function o(e){i.splice(i.indexOf(e),1);for(let{number:t,event:r}of n)t>=e&&s(r);let t=Math.min(...i,r);n=n.filter(({number:e})=>e>=t)}function s(t){let n=e.get(t.taskId);n!==void 0&&e.set(t.taskId,Ti(n,t))}return{list:(n,r)=>t.slice(n,r).map(t=>e.get(t)),get length(){return t.length},begin:a,abandon:o,applyFirst(n,r,i){let a=new Set(r.map(({taskId:e})=>e)),s=r.at(-1)?.createdAt??``,c=i?t.filter(t=>!a.has(t)&&(e.get(t)?.createdAt??``)<=s):[],l=new Set(c);for(let n of t)!a.has(n)&&!l.has(n)&&e.delete(n);for(let t of r)e.set(t.taskId,t);t=[...a,...c],o(n)},append(n,r){t=[...t,...r.filter(({taskId:t})=>!e.has(t)).map(({taskId:e})=>e)];for(let t of r)e.set(t.taskId,t);o(n)},patch(t){let a=!1;for(let o of t)i.length>0&&n.push({number:r,event:o}),r+=1,a||=!e.has(o.taskId),s(o);return a}}}function Ti(e,{type:t,timestamp:n,errorCode:r}){let i=e.state===`queued`||e.state===`running`;switch(t){case`execution.started`:return e.state===`queued`?{...e,state:`running`,startedAt:n,lastProgressAt:n,waitingOn:null,queuedBecause:null}:e;case`execution.completed`:return i?{...e,state:`completed`,finishedAt:n,waitingOn:null,queuedBecause:null}:e;case`execution.failed`:return i?{...e,state:r===`cancelled`?`cancelled`:`failed`,errorCode:r,finishedAt:n,waitingOn:null,queuedBecause:null}:e;case`tool.approval_requested`:return e.state===`running`?{...e,waitingOn:`approval`,lastProgressAt:n}:e;case`tool.approval_resolved`:return e.state===`running`?{...e,waitingOn:null,lastProgressAt:n}:e;case`callback.delivered`:return e.callback===null?e:{...e,callback:{...e.callback,state:`delivered`}};case`callback.dead`:return e.callback===null?e:{...e,callback:{...e.callback,state:`dead`}};default:return e}}const Ei=[{name:`All`,query:``},{name:`Running`,query:`state=running`},{name:`Failed today`,query:`created=today&state=failed`},{name:`Needs approval`,query:`waitingOn=approval`},{name:`Dead callbacks`,query:`callback=dead`}];function Z(e){let t=new URLSearchParams([...e].filter(([,e])=>e!==``));return t.sort(),t.toString()}function Di(e,t){let n=`bridge.views.${t}`,r=()=>Oi(e.getItem(n)),i=t=>e.setItem(n,JSON.stringify(t));return{list:r,save:e=>i([...r().filter(({name:t})=>t!==e.name),e].slice(-20)),remove:e=>i(r().filter(t=>t.name!==e))}}function Oi(e){try{let t=JSON.parse(e??`[]`);return Array.isArray(t)?t.filter(ki):[]}catch{return[]}}const ki=e=>typeof e==`object`&&!!e&&typeof Reflect.get(e,`name`)==`string`&&typeof Reflect.get(e,`query`)==`string`,Ai=36e5,ji={hour:{name:`Last hour`,start:e=>e-Ai},today:{name:`Today`,start:e=>new Date(e).setHours(0,0,0,0)},"7d":{name:`Last 7 days`,start:e=>e-168*Ai},"30d":{name:`Last 30 days`,start:e=>e-720*Ai}},Mi=[`search`,`state`,`provider`,`agentId`,`label`,`errorCode`,`callback`,`waitingOn`,`q`,`idPrefix`,`parentTaskId`,`root`,`createdAfter`,`createdBefore`];function Ni(e,t){let n=ji[e.get(`created`)??``],r=Mi.map(t=>[t,e.get(t)??``]);return{...Object.fromEntries(r.filter(([,e])=>e!==``)),...n!==void 0&&!e.has(`createdAfter`)&&{createdAfter:new Date(n.start(t)).toISOString()}}}const Pi=[{name:`errorCode`,label:`Error code`,values:null,example:`timeout`},{name:`callback`,label:`Callback`,values:[`pending`,`delivered`,`dead`]},{name:`waitingOn`,label:`Waits for`,values:[[`approval`,`an approval`]]},{name:`root`,label:`Child tasks`,values:[[`*`,`none`]]},{name:`parentTaskId`,label:`Parent task`,values:null,example:`id`},{name:`idPrefix`,label:`Id starts with`,values:null},{name:`q`,label:`Title contains`,values:null},{name:`createdAfter`,label:`Created after`,values:`time`},{name:`createdBefore`,label:`Created before`,values:`time`}];var Fi=class extends g{static properties={context:{attribute:!1},query:{attribute:!1},inRow:{attribute:!1},onQuery:{attribute:!1}};#e=``;#t=null;#n;disconnectedCallback(){super.disconnectedCallback(),clearTimeout(this.#n)}willUpdate(e){if(!e.has(`query`))return;let t=this.query.get(`search`)??``;t!==this.#e.trim()&&(clearTimeout(this.#n),this.#e=t)}focus(){this.querySelector(`input[type=search]`)?.focus()}#r(e){this.#e=e.target.value,clearTimeout(this.#n),this.#n=setTimeout(()=>this.#i(`search`,this.#e.trim()),200)}#i(e,t){let n=new URLSearchParams(this.query);clearTimeout(this.#n),this.#e.trim()===``?n.delete(`search`):n.set(`search`,this.#e.trim()),t===``?n.delete(e):n.set(e,t),Z(n)!==Z(this.query)&&this.onQuery(n)}async#a(){if(this.#t!==null)return;this.#t=[];let e=await this.context.api.list(`/api/v2/agents`,{limit:200}).catch(()=>null);this.#t=e?.data.map(({agentId:e})=>e)??null,this.requestUpdate()}#o(){return[{name:`state`,label:`State`,values:[`queued`,`running`,`completed`,`failed`,[`cancelled`,`canceled`]]},{name:`provider`,label:`Adapter`,values:this.context.attention.state.adapters.map(({provider:e})=>e)},{name:`agentId`,label:`Agent`,values:null,list:`filter-agents`},{name:`label`,label:`Label`,values:null,example:`name=value`},{name:`created`,label:`Created`,values:Object.entries(ji).map(([e,{name:t}])=>[e,t])}]}render(){let e=this.#o(),t=[...e.slice(this.inRow),...Pi];return h`<search class="task-filters">
      <label class="search-box"
        >${X(Ae)}<span class="visually-hidden">Search</span>
        <input
          type="search" .value=${this.#e} maxlength=${200} placeholder="Search by id, title, agent or label" spellcheck="false"
          autocomplete="off" @input=${this.#r}
        /></label>
      ${e.slice(0,this.inRow).map(e=>this.#c(e,!0))}
      ${this.#s(t)}
      ${Z(this.query)===``?x:h`<a class="button plain" href=${k(`tasks`)}>Clear</a>`}
      <datalist id="filter-agents">${(this.#t??[]).map(e=>h`<option value=${e}></option>`)}</datalist>
    </search>`}#s(e){let t=e.filter(({name:e})=>this.query.has(e)).length;return h`<details class="menu" @focusout=${e=>{let t=e.currentTarget;t.contains(e.relatedTarget)||(t.open=!1)}} @keydown=${e=>{if(e.key!==`Escape`)return;let t=e.currentTarget;t.open=!1,t.querySelector(`summary`)?.focus()}}>
      <summary>${X(Ee)} ${this.inRow===0?`Filters`:`More filters`} ${t===0?x:h`<span class="count">${t}</span>`}</summary>
      <div class="filter-panel" tabindex="-1">${e.map(e=>this.#c(e,!1))}</div>
    </details>`}#c({name:e,label:t,values:n,example:r,list:i},a){let o=this.query.get(e)??``,s=t=>this.#i(e,t.target.value.trim()),c=a?x:h`<span>${t}</span>`,l=o===``?``:`used`;if(n===`time`)return h`<label>${c} <input type="datetime-local" aria-label=${t} class=${l} .value=${u(o)} @change=${t=>this.#i(e,m(t.target.value))} /></label>`;if(n===null)return h`<label
        >${c}
        <input
          aria-label=${t} class=${l} .value=${o} @change=${s} @focus=${i===void 0?x:()=>this.#a()}
          list=${i??x} placeholder=${a?t:r??x} title=${r??x}
          spellcheck="false" autocomplete="off"
      /></label>`;let d=n.map(e=>typeof e==`string`?[e,e]:e),f=o===``||d.some(([e])=>e===o);return h`<label
      >${c}
      <select aria-label=${t} class=${l} @change=${s}>
        <option value="" ?selected=${o===``}>${a?t:`any`}</option>
        ${(f?d:[...d,[o,o]]).map(([e,t])=>h`<option value=${e} ?selected=${e===o}>${t}</option>`)}
      </select></label
    >`}};customElements.define(`bridge-task-filters`,Fi);const Ii=[{name:`Select`,kind:`select`},{name:`State`,kind:`state`},{name:`Task`,kind:`name`},{name:`Agent`,kind:`agent`},{name:`Adapter`,kind:`provider`},{name:`Started`,kind:`started number`},{name:`Duration`,kind:`duration number`},{name:`Last event`,kind:`last number`},{name:`Cost`,kind:`cost number`},{name:`Callback`,kind:`delivery`}],Li=(e,t)=>h`
  <span role="cell" class="state">${M(w(e,t))}</span>
  <span role="cell" class="name"
    ><a href=${j(e.taskId)}>${s(e.title??``)} <span class="detail">${e.taskId}${re(e)}</span></a>${Ri(e)}</span
  >
  <span role="cell" class="agent">${e.agentId}</span>
  <span role="cell" class="provider">${e.provider}</span>
  <span role="cell" class="started number">${D(e.startedAt??e.createdAt,t)}</span>
  <span role="cell" class="duration number">${zi(e,t)}</span>
  <span role="cell" class="last number">${D(e.lastProgressAt,t)}</span>
  <span role="cell" class="cost number">${P(e)?r(e.costUsd):x}</span>
  <span role="cell" class="delivery">${te(e.callback)}</span>
`;function Ri({labels:e}){let t=Object.entries(e);if(t.length===0)return x;let n=t.map(([e,t])=>`${e}=${t}`);return h`<span class="labels"
    >${n.map(e=>h`<a class="chip" href=${k(`tasks?${new URLSearchParams({label:e})}`)}>${s(e)}</a>`)}</span
  >`}function zi({startedAt:t,finishedAt:n,state:r},i){if(t===null||n===null&&r!==`running`)return x;let a=Date.parse(t);return e(n===null?i-a:Date.parse(n)-a)}var Bi=class extends g{static properties={context:{attribute:!1},query:{attribute:!1}};#e=!1;#t(){return Di(localStorage,this.context.identity.tenant)}#n(e){this.#e=e,this.requestUpdate(),this.updateComplete.then(()=>this.querySelector(e?`.view-name`:`.save-view, [aria-current]`)?.focus())}#r(e){e.preventDefault();let t=this.querySelector(`.view-name`)?.value.trim()??``;t!==``&&(this.#t().save({name:t,query:Z(this.query)}),this.#n(!1))}#i(e){this.#t().remove(e),this.#n(!1)}render(){let e=Z(this.query),t=this.#t().list(),n=![...Ei,...t].some(t=>t.query===e);return h`<div class="views">
      <nav class="tabs" aria-label="Views">
        ${[...Ei,...t].map(t=>Vi(t,e))}
      </nav>
      ${this.#e?this.#a():n?h`<button class="plain save-view" @click=${()=>this.#n(!0)}>${X(ye)} Save this view</button>`:t.filter(t=>t.query===e).map(({name:e})=>h`<button class="plain" @click=${()=>this.#i(e)}>${X(Me)} Remove this view</button>`)}
    </div>`}#a(){return h`<form class="name-view" @submit=${this.#r} @keydown=${e=>{e.key===`Escape`&&this.#n(!1)}}>
      <input class="view-name" aria-label="Name of the view" placeholder="Name of the view" maxlength=${40} autocomplete="off" required />
      <button class="primary" type="submit">Save</button>
      <button type="button" class="plain" @click=${()=>this.#n(!1)}>Cancel</button>
    </form>`}};const Vi=(e,t)=>h`<a
  class="tab" href=${k(e.query===``?`tasks`:`tasks?${e.query}`)} aria-current=${e.query===t?`true`:x}
  >${e.name}</a
>`;customElements.define(`bridge-task-views`,Bi);const Hi=matchMedia(`(max-width: 760px)`),Ui=matchMedia(`(max-width: 1250px)`);var Wi=class extends pe{#e=wi();#t=!1;#n=!1;#r=null;#i={first:0,last:0};#a=/* @__PURE__ */ new Map;#o=/* @__PURE__ */ new Set;#s=-1;#c=!1;#l=``;#u=null;#d;#f;#p=()=>{};#m=0;#h=!1;#g=R(this,e=>this.#S(e));#_=!1;#v=()=>{this.#_=!0,this.requestUpdate()};get paintGapMs(){return this.#_?0:100}connectedCallback(){super.connectedCallback(),addEventListener(`scroll`,this.#v,{passive:!0}),addEventListener(`resize`,this.#v),this.#f=setInterval(()=>this.#y(),1e3),this.#p=this.context.feed.subscribe(e=>{if(e===null)return this.#g.refresh();this.#e.patch(e)&&(this.#d??=setTimeout(()=>this.#b(),500)),this.requestUpdate()})}disconnectedCallback(){super.disconnectedCallback(),removeEventListener(`scroll`,this.#v),removeEventListener(`resize`,this.#v),clearTimeout(this.#d),clearInterval(this.#f),this.#p()}#y(){let{first:e,last:t}=this.#i;this.#e.list(e,t).some(({state:e})=>e===`running`)&&this.requestUpdate()}willUpdate(e){let t=e.get(`route`);t!==void 0&&t.query.toString()!==this.route.query.toString()&&(this.#e=wi(),this.#m+=1,this.#h=!1,this.#r=null,this.#t=!1,this.#o.clear(),this.#s=-1,this.#g.refresh())}#b(){this.#d=void 0,this.#g.refresh()}#x(){return Ni(this.route.query,_())}async#S(e){let t=this.#e,n=this.#m,r=t.begin();try{let i=await this.context.api.list(`/api/v2/tasks`,{...this.#x(),limit:100},{signal:e}),a=t.length===0;return t.applyFirst(r,i.data,i.meta.nextCursor!==null),this.#h||=n===this.#m,n===this.#m&&(a||this.#r===null||t.length<=i.data.length)&&(this.#r=i.meta.nextCursor,this.#t=i.meta.nextCursor!==null),!0}catch(e){throw t.abandon(r),e}}async#C(){if(this.#n||this.#r===null)return;this.#n=!0;let e=this.#e,t=e.begin();try{let n={...this.#x(),limit:200,cursor:this.#r},r=await this.context.api.list(`/api/v2/tasks`,n);e.append(t,r.data),e===this.#e&&(this.#r=r.meta.nextCursor,this.#t=this.#r!==null)}catch(n){e.abandon(t),this.#u=n instanceof E?n:null}finally{this.#n=!1,this.requestUpdate()}}#w=e=>{let t=e.toString();T(k(t===``?`tasks`:`tasks?${t}`),{replace:!0})};onKey(e){let{length:t}=this.#e;if(e===`/`)return this.querySelector(`bridge-task-filters`)?.focus(),!0;if((e===`j`||e===`k`)&&t>0)return this.#s=Math.min(t-1,Math.max(0,this.#s+(e===`j`?1:-1))),this.#T(),!0;let[n]=this.#e.list(this.#s,this.#s+1);return e===`x`&&n!==void 0&&(this.#E(n.taskId),!0)}async#T(){let e=this.querySelector(`.window`);if(e===null)return;let t=Q(),n=e.getBoundingClientRect().top+this.#s*t;n<0?scrollBy(0,n-t):n+t>innerHeight&&scrollBy(0,n+2*t-innerHeight),this.requestUpdate(),await this.updateComplete,this.querySelector(`[data-index="${this.#s}"] a`)?.focus({preventScroll:!0})}#E(e){this.#o.delete(e)||this.#o.add(e),this.#c=!1,this.requestUpdate()}async#D(){let e=[...this.#o];this.#c=!1,this.#l=`Canceling ${e.length} …`,this.requestUpdate();let t=[],n=async()=>{for(let n=e.pop();n!==void 0;n=e.pop()){let e=`/api/v2/tasks/${encodeURIComponent(n)}/cancel`,r=n;await this.context.api.call(e,{method:`POST`}).catch(e=>t.push(`${r}: ${String(e)}`))}},r=e.length;await Promise.all(Array.from({length:4},n)),this.#o.clear(),this.#l=t.length===0?`Cancellation requested for ${r} tasks.`:t.join(`; `),this.#g.refresh(),this.requestUpdate()}updated(){this.#_=!1;let e=this.querySelector(`.window`),t=this.querySelector(`.visible`);if(e===null||t===null)return;let n=`${this.#e.length*Q()}px`;e.style.height!==n&&(e.style.height=n),t.style.transform=`translateY(${this.#i.first*Q()}px)`,this.#t&&this.#i.last+60>this.#e.length&&this.#C()}#O(){let e=this.querySelector(`.window`)?.getBoundingClientRect().top??0,t=Math.max(0,Math.floor(-e/Q())-4);return{first:t,last:Math.min(this.#e.length,t+Math.ceil(innerHeight/Q())+8)}}render(){let e=_();this.#i=this.#O();let{first:t,last:n}=this.#i,r=this.#e.list(t,n);return this.#k(r),this.#a=Ci(this.#a,r.map(({taskId:e})=>e),this.#_),h`
      <h1>Tasks</h1>
      <bridge-task-views .context=${this.context} .query=${this.route.query}></bridge-task-views>
      <bridge-task-filters
        .context=${this.context} .query=${this.route.query} .inRow=${Gi()} .onQuery=${this.#w}
      ></bridge-task-filters>
      ${O(this.#g.error??this.#u)} ${this.#j()}
      ${this.#e.length===0?this.#N():x}
      <div role="table" aria-label="Tasks" aria-rowcount=${this.#t?-1:this.#e.length+1} ?hidden=${this.#e.length===0}>
        <div role="rowgroup">
          <div role="row" class="task-row heading" aria-rowindex="1">
            ${Ii.map(({name:e,kind:t})=>h`<span role="columnheader" class=${t}>${e}</span>`)}
          </div>
        </div>
        <div role="rowgroup" class="window">
          <div class="visible" role="presentation">
            ${Pe(r,({taskId:e})=>this.#a.get(e),(n,r)=>this.#A(n,t+r,e))}
          </div>
        </div>
      </div>
      ${this.#t?h`<p class="hint">${this.#e.length} tasks loaded. Scroll down for more.</p>`:x}
    `}#k(e){let t=document.activeElement,n=t?.closest(`.visible > .task-row`);n!=null&&!e.some(({taskId:e})=>e===n.dataset.task)&&t.blur()}#A(e,t,n){return h`<div role="row" class="task-row" aria-rowindex=${t+2} data-index=${t} data-task=${e.taskId}>
      <span role="cell" class="select"
        ><input
          type="checkbox" aria-label="Select ${e.taskId}" .checked=${Un(this.#o.has(e.taskId))}
          ?disabled=${P(e)} @change=${()=>this.#E(e.taskId)}
      /></span>
      ${Li(e,n)}
    </div>`}#j(){let e=this.#o.size,t=this.#l===``?x:h`<p class="note info" role="status">${s(this.#l)}</p>`;if(e===0||!this.context.identity.scopes.includes(`dispatch`))return t;let n=h`<button class="danger" @click=${()=>this.#M(!0)}>Cancel ${e} ${e===1?`task`:`tasks`}</button>`,r=h`<span>Cancel ${e} and all of their child tasks?</span>
      <button class="danger" @click=${()=>this.#D()}>Yes, cancel</button>
      <button @click=${()=>this.#M(!1)}>No</button>`;return h`<div class="selection">${this.#c?r:n}</div>
      ${t}`}#M(e){this.#c=e,this.requestUpdate()}#N(){return!this.#h||this.#t?this.#g.error===null?h`<p role="status">Loading …</p>`:x:Z(this.route.query)===``?h`<p class="empty">No tasks yet. <a href=${k(`new`)}>Dispatch one</a></p>`:h`<p class="empty">No task matches. <a href=${k(`tasks`)}>Clear the filters</a></p>`}};const Gi=()=>Hi.matches?0:Ui.matches?3:5,Q=()=>Hi.matches?82:36;customElements.define(`bridge-tasks`,Wi);var Ki=class extends g{static properties={context:{attribute:!1},commands:{attribute:!1}};#e=``;#t=[];#n=0;#r=!1;#i;#a=null;open(){this.#e=``,this.#t=[],this.#n=0,this.#r=!0,this.requestUpdate(),this.updateComplete.then(()=>this.querySelector(`dialog`)?.showModal())}disconnectedCallback(){super.disconnectedCallback(),clearTimeout(this.#i),this.#a?.abort()}#o(){let e=this.#e.toLowerCase().split(/\s+/),t=this.commands.filter(({name:t,kind:n})=>e.every(e=>`${n} ${t}`.toLowerCase().includes(e))),n=this.#t.map(e=>({name:e.title??e.taskId,kind:`task`,task:e,run:()=>T(j(e.taskId))}));return this.#e===``?t:[...t.slice(0,8),...n]}#s(e){this.#e=e.target.value.trim(),this.#n=0,clearTimeout(this.#i),this.#i=setTimeout(()=>void this.#c(),150),this.requestUpdate()}async#c(){this.#a?.abort(),this.#a=new AbortController;let{signal:e}=this.#a;if(this.#e===``)this.#t=[];else{let t=await this.#l(e).catch(()=>[]);if(e.aborted)return;this.#t=t}this.requestUpdate()}async#l(e){let t={search:this.#e,limit:8},n=await this.context.api.list(`/api/v2/tasks`,t,{signal:e}),r=n.meta.nextCursor;if(r===null||n.data.length===8)return n.data;let i=await this.context.api.list(`/api/v2/tasks`,{...t,cursor:r},{signal:e});return[...n.data,...i.data].slice(0,8)}#u(e){let t=this.#o();if(e.key===`ArrowDown`||e.key===`ArrowUp`){let n=e.key===`ArrowDown`?1:t.length-1;this.#n=t.length===0?0:(this.#n+n)%t.length,this.requestUpdate()}else if(e.key===`Enter`)this.#d(t[this.#n]);else return;e.preventDefault()}#d(e){e!==void 0&&(this.querySelector(`dialog`)?.close(),e.run())}updated(){this.querySelector(`[aria-selected=true]`)?.scrollIntoView({block:`nearest`})}render(){let e=this.#r?this.#o():[];return h`<dialog class="command-menu" aria-label="Search or jump to" @click=${this.#m} @close=${this.#p}>
      ${this.#r?this.#f(e):x}
    </dialog>`}#f(e){return h`
      <input
        type="search" role="combobox" aria-label="Search or jump to" aria-expanded="true"
        aria-controls="command-choices" aria-activedescendant=${e.length===0?x:`choice-${this.#n}`}
        placeholder="Page, action, or task by id, title, agent or label" autocomplete="off" spellcheck="false"
        .value=${this.#e} @input=${this.#s} @keydown=${this.#u}
      />
      <ul id="command-choices" role="listbox" aria-label="Matches">
        ${e.map((e,t)=>h`<li
            id="choice-${t}" role="option" aria-selected=${t===this.#n} @click=${()=>this.#d(e)}
          >${qi(e)}</li>`)}
      </ul>
      ${e.length===0?h`<p class="empty" role="status">Nothing matches.</p>`:x}`}#p(){this.#r=!1,this.requestUpdate()}#m(e){e.target instanceof HTMLDialogElement&&e.target.close()}};const qi=({name:e,kind:t,task:n})=>n===void 0?h`<span>${s(e)}</span> <span class="detail">${t}</span>`:h`${M(w(n,_()))} <span>${s(e)}</span>
        <span class="detail">${n.taskId} · ${n.agentId}</span>`;customElements.define(`bridge-command-menu`,Ki);function Ji({api:e,feed:t}){let n=/* @__PURE__ */ new Set,r=new AbortController,i={approvals:[],hasMoreApprovals:!1,faults:{data:[],counts:{approval:0,failure:0,callback:0,delivery:0,adapter:0},receivers:[]},faultsAt:0,adapters:[],error:null,isLoaded:!1},a,o,s=!1,c=!1;async function l(){if(s){c=!0;return}s=!0,c=!1;let{signal:t}=r;try{let n=_(),[r,a,o]=await Promise.all([Yi(e,t),e.call(`/api/v2/attention?limit=5`,{signal:t}),e.list(`/api/v2/adapters`,{limit:200},{signal:t})]);i={approvals:r.approvals,hasMoreApprovals:r.hasMore,faults:a,faultsAt:n,adapters:o.data,error:null,isLoaded:!0}}catch(e){if(t.aborted)return;i={...i,error:e instanceof E?e:new E(0,`unexpected`,String(e))}}finally{s=!1}t.aborted||(u(),d(c?0:document.hidden?2e4:5e3))}function u(){let e=_();i={...i,approvals:i.approvals.filter(t=>!fe(t,e))};for(let e of n)e();clearTimeout(o);let t=Math.min(...i.approvals.map(({expiresAt:e})=>e===null?1/0:Date.parse(e)));t!==1/0&&(o=setTimeout(()=>{u(),d(100)},t-e))}function d(e){clearTimeout(a),a=setTimeout(()=>void l(),e)}let f=t.subscribe(e=>{(e?.some(({type:e})=>e!==`execution.started`&&e!==`execution.completed`)??!0)&&d(100)}),p=()=>{document.hidden||d(0)};return document.addEventListener(`visibilitychange`,p),l(),{get state(){return i},subscribe(e){return n.add(e),()=>void n.delete(e)},refresh:()=>d(0),close(){r.abort(),clearTimeout(a),clearTimeout(o),f(),n.clear(),document.removeEventListener(`visibilitychange`,p)}}}async function Yi(e,t){let n=[],r;for(let i=0;i<10;i+=1){let i={state:`pending`,order:`oldest`,limit:200-n.length,cursor:r},{data:a,meta:o}=await e.list(`/api/v2/approvals`,i,{signal:t});if(n.push(...a),o.nextCursor===null)return{approvals:n,hasMore:!1};if(n.length===200)break;r=o.nextCursor}return{approvals:n,hasMore:!0}}const Xi=[`execution.started`,`execution.completed`,`execution.failed`,`tool.approval_requested`,`tool.approval_resolved`,`callback.delivered`,`callback.dead`];function Zi(e,t){let r=pt({url:n,token:e,retryDelayMs:150,patienceMs:2**53-1,parseJson:de}),i=/* @__PURE__ */ new Set,a=null,o=null,s,c=[],l,u,d=e=>{for(let t of i)t(e)};function f(e){d(e),o?.postMessage({events:e,lastId:s})}function p(){l=void 0;let e=c;c=[],f(e)}async function m(e){let t=()=>f(null),n=s===void 0?{signal:e,onGap:t}:{signal:e,onGap:t,after:s};for await(let e of r.events({types:Xi},n))s=e.id,c.push($i(e)),l??=setTimeout(p,50)}async function h(t){let{signal:n}=t;try{let t=await Qi(e);if(n.throwIfAborted(),t===null)return await m(n);o=new BroadcastChannel(t),o.onmessage=({data:e})=>{s=e.lastId,d(e.events)},await navigator.locks.request(t,{signal:n},()=>m(n))}catch(e){if(n.aborted)return;if(e instanceof I&&e.status===401)return await g(t);console.error(`The event stream failed.`,e)}}async function g(e){o?.close(),o=null;let n=await t();await new Promise(e=>setTimeout(e,150)),n&&!e.signal.aborted&&await h(e)}function _(){a===null&&(a=new AbortController,h(a))}function v(){a?.abort(),a=null,o?.close(),o=null}function y(){clearTimeout(u),document.hidden?u=setTimeout(v,6e4):a===null&&(_(),d(null))}return document.addEventListener(`visibilitychange`,y),_(),{subscribe(e){return i.add(e),()=>void i.delete(e)},followTask:(e,t)=>r.events(e,t),close(){document.removeEventListener(`visibilitychange`,y),clearTimeout(u),clearTimeout(l),i.clear(),v()}}}async function Qi(e){if(!isSecureContext)return null;let t=await crypto.subtle.digest(`SHA-256`,new TextEncoder().encode(`bridge stream ${e}`));return`bridge-${Array.from(new Uint8Array(t),e=>e.toString(16).padStart(2,`0`)).join(``)}`}function $i({type:e,taskId:t,agentId:n,provider:r,timestamp:i,data:a}){let{errorCode:o=null,approvalId:s=null}=a;return{type:e,taskId:t,agentId:n,provider:r,timestamp:i,errorCode:o,approvalId:s}}function ea(){let{hash:e,pathname:t,search:n}=location;return e.startsWith(`#t=`)?(history.replaceState(history.state,``,t+n),e.slice(3)):null}async function ta(e){let t={method:`POST`,body:{ticket:e}};return(await F(null,()=>{}).call(`/api/v2/sessions`,t)).token}const $=`bridge.token`,na=`Bridge no longer accepts this token. It has expired or was revoked. Sign in with another one.`;async function ra(e){let t=await e.call(`/api/v2/me`),{version:n}=await e.call(`/`);return{identity:t,version:n}}function ia(e){let t={kind:`signed-out`,reason:null},n=()=>{},r=0,i=n=>{t=n,e()};function a(){return n(),n=()=>{},r+=1,r}function o(e){a(),sessionStorage.removeItem($),localStorage.removeItem($),i({kind:`signed-out`,reason:e})}async function s(e,{isNew:t}){let n=a(),s=t?`Bridge does not know this token. Copy the whole token: the file data/token contains it, unless the operator configured tokens.`:na;i({kind:`checking`});let l=async()=>!await sa(e)||(r===n&&o(s),!1),u=F(e,()=>void l());for(;r===n;)try{let t=await ra(u);s=na,r===n&&c({...t,api:u,token:e},l);return}catch(e){if(r!==n)return;e instanceof E&&e.status===401||i({kind:`unreachable`,detail:da(e)}),await new Promise(e=>setTimeout(e,1e3))}}function c(e,t){let{parts:r,close:a}=aa(e,t);n=a,i({kind:`signed-in`,context:{...e,...r}})}function l(e,t={isNew:!1}){sessionStorage.setItem($,e),s(e,t)}async function u(e){let t=a();i({kind:`checking`});let o=ua();try{let a=await ta(e),s=()=>oa(F(a,()=>{})),[c,u]=await Promise.all([ca(a),o===null?null:ca(o)]);if(r!==t)return s();if(c===null||u===null||la(c,u))return l(a);n=s,i({kind:`confirming`,present:u,offered:c,accept:()=>{n=()=>{},l(a)},decline:d})}catch(e){if(r!==t)return;if(o!==null)return d();i({kind:`signed-out`,reason:da(e)})}}function d(){let e=ua();e===null?i({kind:`signed-out`,reason:null}):s(e,{isNew:!1})}function f(){let e=ea();return e!==null&&u(e),e!==null}return{get state(){return t},resume(){f()||d()},followLink:f,signIn(e,{remember:t}){t&&localStorage.setItem($,e),l(e,{isNew:!0})},signOut(){t.kind===`signed-in`&&t.context.token.startsWith(`ses_`)&&oa(t.context.api),o(null)}}}function aa({token:e,api:t},n){let r=Zi(e,n),i=Ji({api:t,feed:r});return{parts:{feed:r,attention:i},close(){i.close(),r.close()}}}function oa(e){e.call(`/api/v2/sessions/current`,{method:`DELETE`}).catch(()=>{})}const sa=e=>ca(e).then(e=>e===null,()=>!1);async function ca(e){try{return await F(e,()=>{}).call(`/api/v2/me`)}catch(e){if(e instanceof E&&e.status===401)return null;throw e}}const la=(e,t)=>e.name===t.name&&e.tenant===t.tenant,ua=()=>sessionStorage.getItem($)??localStorage.getItem($),da=e=>e instanceof E?e.message:String(e),fa={overview:`Overview`,tasks:`Tasks`,task:`Task`,new:`New task`,approvals:`Approvals`,callbacks:`Callbacks`,webhooks:`Webhooks`,adapters:`Adapters`,usage:`Usage`,missing:`Not found`},pa={new:()=>import(`./new-CMGugb1Q.js`),callbacks:()=>import(`./callbacks-ruSsEVp-.js`),webhooks:()=>import(`./webhooks-BAzblKna.js`),adapters:()=>import(`./adapters-BfI49cQP.js`),usage:()=>import(`./usage-BJz5W64H.js`)},ma=[{page:`overview`,path:``,sign:we},{page:`tasks`,path:`tasks`,sign:Te},{page:`approvals`,path:`approvals`,sign:xe},{page:`callbacks`,path:`callbacks`,sign:je},{page:`webhooks`,path:`webhooks`,sign:ve},{page:`adapters`,path:`adapters`,sign:Oe},{page:`usage`,path:`usage`,sign:be}];var ha=class extends g{#e=ia(()=>this.#o());#t=Rt();#n=se();#r=this.#n.id;#i=null;#a=()=>{};connectedCallback(){super.connectedCallback(),addEventListener(`popstate`,()=>this.#c()),addEventListener(`hashchange`,()=>this.#e.followLink()),this.addEventListener(t,e=>{this.#r=e.detail,this.#s()}),addEventListener(`click`,e=>this.#l(e)),addEventListener(`keydown`,e=>this.#u(e)),this.#e.resume()}#o(){let{state:e}=this.#e;this.#a(),this.#t.reset(),this.#a=e.kind===`signed-in`?e.context.attention.subscribe(()=>this.#s()):()=>{},e.kind===`signed-in`?this.#s():this.#t.update(`Sign in`,{approvals:[],hasMoreApprovals:!1}),this.requestUpdate()}#s(){let{state:e}=this.#e;if(e.kind!==`signed-in`)return;let t=this.#n.page===`task`?this.#r:fa[this.#n.page];this.#t.update(t,e.context.attention.state),this.requestUpdate()}#c(){this.#e.followLink();let e=this.#n;this.#n=se(),e.id!==this.#n.id&&(this.#r=this.#n.id),this.#s(),(e.page!==this.#n.page||e.id!==this.#n.id)&&(scrollTo(0,0),this.updateComplete.then(()=>this.querySelector(`main`)?.focus({preventScroll:!0})))}#l(e){let t=ue(e);t!==null&&this.#e.state.kind===`signed-in`&&(e.preventDefault(),T(t))}#u(e){if(e.key===`k`&&(e.ctrlKey||e.metaKey)&&document.querySelector(`dialog[open]`)===null){e.preventDefault(),this.#f();return}if(e.ctrlKey||e.metaKey||e.altKey||va(e))return;let t=this.querySelector(`dialog.help`);e.key===`?`&&t!==null?(e.preventDefault(),t.open?t.close():t.showModal()):document.querySelector(`dialog[open]`)===null&&this.querySelector(`[data-page]`)?.onKey(e.key,e)===!0&&e.preventDefault()}render(){let{state:e}=this.#e;switch(e.kind){case`signed-out`:return h`<bridge-sign-in
          .reason=${e.reason}
          .onSignIn=${(e,t)=>this.#e.signIn(e,t)}
        ></bridge-sign-in>`;case`checking`:return h`<main class="sign-in"><p role="status">Signing in …</p></main>`;case`unreachable`:return h`<main class="sign-in">
          <h1>Bridge</h1>
          <p class="note error" role="alert">${s(e.detail)}</p>
          <p role="status">Trying again …</p>
          <button @click=${()=>this.#e.signOut()}>Sign out</button>
        </main>`;case`confirming`:return ga(e);case`signed-in`:return this.#d(e.context)}}#d(e){let{identity:t,version:n,attention:r}=e,{page:i,id:a}=this.#n;return h`
      <a class="skip" href="#main" @click=${e=>this.#_(e)}>Skip to the content</a>
      <header class="shell">
        <a class="brand" href=${k(``)}>${Lt} Bridge</a>
        <a class="button primary new" href=${k(`new`)} aria-current=${i===`new`?`page`:x}
          >${X(ke)}<span>New task</span></a
        >
        <button class="find" @click=${()=>this.#f()} aria-keyshortcuts="Control+K Meta+K">
          ${X(Ae)}<span>Search</span><kbd aria-hidden="true">Ctrl K</kbd>
        </button>
        <nav aria-label="Pages">${ma.map(t=>this.#m(t,e))}</nav>
        <div class="who">
          ${_a(r.state.error)?h`<span class="connection lost" role="status">reconnecting …</span>`:h`<span class="connection" role="status">live</span>`}
          <dl>
            <div><dt>Token</dt><dd>${t.name}</dd></div>
            <div><dt>Tenant</dt><dd>${t.tenant}</dd></div>
            <div><dt>Version</dt><dd>${n}</dd></div>
          </dl>
          <button class="plain" title="${t.name}, tenant ${t.tenant}" @click=${()=>this.#e.signOut()}>${X(De)} Sign out</button>
        </div>
      </header>
      <main id="main" tabindex="-1">${me(`${i}/${a}`,this.#g(e))}</main>
      <bridge-command-menu .context=${e} .commands=${this.#p(e)}></bridge-command-menu>
      ${ba()}
    `}#f(){this.querySelector(`bridge-command-menu`)?.open()}#p({attention:e}){let t=(e,t,n=`page`)=>({name:e,kind:n,run:()=>T(k(t))});return[...ma.map(({page:e,path:n})=>t(fa[e],n)),t(`New task`,`new`,`action`),t(`Running tasks`,`tasks?state=running`,`view`),t(`Failed tasks`,`tasks?state=failed`,`view`),{name:`Show the keys`,kind:`action`,run:()=>this.querySelector(`dialog.help`)?.showModal()},{name:`Sign out`,kind:`action`,run:()=>this.#e.signOut()},...e.state.adapters.map(({provider:e})=>t(e,`tasks?provider=${encodeURIComponent(e)}`,`tasks of adapter`))]}#m({page:e,path:t,sign:n},{attention:r}){let{approvals:i,hasMoreApprovals:a,faults:o}=r.state,s={approvals:d(i.length,a),callbacks:String(o.counts.callback),webhooks:String(o.counts.delivery)}[e]??`0`,c=this.#n.page===e||this.#n.page===`task`&&e===`tasks`;return h`<a href=${k(t)} aria-current=${c?`page`:x}
      >${X(n)} ${fa[e]}${s===`0`?x:h` <span class="count">${s}</span>`}</a
    >`}async#h(e){try{await pa[e]?.()}catch{this.#i=e}this.requestUpdate()}#g(e){let t=this.#n;if(this.#i===t.page)return h`<h1>${fa[t.page]}</h1>
        <p class="note error" role="alert">Bridge did not answer, or it was upgraded. <button @click=${()=>location.reload()}>Load again</button></p>`;if(pa[t.page]!==void 0&&customElements.get(`bridge-${t.page}`)===void 0)return this.#h(t.page),h`<p role="status">Loading …</p>`;switch(t.page){case`overview`:return h`<bridge-overview data-page .context=${e} .route=${t}></bridge-overview>`;case`new`:return h`<bridge-new data-page .context=${e} .route=${t}></bridge-new>`;case`approvals`:return h`<bridge-approvals data-page .context=${e} .route=${t}></bridge-approvals>`;case`callbacks`:return h`<bridge-callbacks data-page .context=${e} .route=${t}></bridge-callbacks>`;case`webhooks`:return h`<bridge-webhooks data-page .context=${e} .route=${t}></bridge-webhooks>`;case`adapters`:return h`<bridge-adapters data-page .context=${e} .route=${t}></bridge-adapters>`;case`usage`:return h`<bridge-usage data-page .context=${e} .route=${t}></bridge-usage>`;case`tasks`:return h`<bridge-tasks data-page .context=${e} .route=${t}></bridge-tasks>`;case`task`:return h`<bridge-task data-page .context=${e} .route=${t}></bridge-task>`;default:return h`<h1>Not found</h1>
          <p>The console has no such page. <a href=${k(``)}>Overview</a></p>`}}#_(e){e.preventDefault(),this.querySelector(`#main`)?.focus()}};const ga=({present:e,offered:t,accept:n,decline:r})=>h`
  <main class="sign-in">
    <h1>Bridge</h1>
    <p role="alert">
      You are signed in as ${e.name} (tenant ${e.tenant}). Sign in as ${t.name} (tenant ${t.tenant})?
    </p>
    <p class="hint">Continue only if you created this link or expected it.</p>
    <button class="primary" @click=${r}>Stay signed in as ${e.name}</button>
    <button @click=${n}>Sign in as ${t.name}</button>
  </main>
`,_a=e=>e!==null&&(e.status===0||e.status>=500);function va(e){let[t]=e.composedPath();return t instanceof HTMLElement&&t.matches(`input:not([type=checkbox]), textarea, select, [contenteditable]`)}const ya=[[`Ctrl-K`,`search or jump to`],[`/`,`search or filter`],[`j, k`,`next or previous row`],[`Enter`,`open the row`],[`x`,`select the row`],[`a a, r r`,`approve or reject the selected tool call`],[`?`,`this help`]],ba=()=>h`
  <dialog class="help" aria-labelledby="help-title">
    <h2 id="help-title">Keys</h2>
    <dl>${ya.map(([e,t])=>h`<dt><kbd>${e}</kbd></dt><dd>${t}</dd>`)}</dl>
    <form method="dialog" @submit=${xa}><button>Close</button></form>
  </dialog>
`;function xa(e){e.preventDefault(),e.target.closest(`dialog`)?.close()}customElements.define(`bridge-app`,ha);export{Kt as C,qt as S,Pe as T,An as _,$n as a,Fn as b,rr as c,Xn as d,Yn as f,Rn as g,jn as h,sr as i,nr as l,Hn as m,Ir as n,ir as o,K as p,X as r,er as s,Kr as t,Zn as u,Ln as v,R as w,Bn as x,zn as y};