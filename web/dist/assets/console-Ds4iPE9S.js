import{$ as e,A as t,B as n,C as r,D as i,E as a,F as o,G as s,H as c,I as l,J as u,K as d,L as f,M as p,N as m,O as h,P as g,Q as _,R as v,S as y,T as b,U as x,V as ee,W as S,X as C,Y as w,Z as T,_ as te,a as E,b as ne,c as D,d as O,et as k,f as re,g as ie,h as ae,i as A,j,k as oe,l as M,m as se,n as ce,nt as N,o as P,p as F,q as le,r as I,rt as ue,s as de,t as fe,tt as L,u as pe,v as R,w as me,x as he,y as z,z as ge}from"./shared-C71ngRhu.js";
/**
* @license
* Copyright 2021 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/const _e=T(class extends _{constructor(){super(...arguments),this.key=k}render(e,t){return this.key=e,t}update(e,[t,n]){return t!==this.key&&(le(e),this.key=t),n}}),ve=[[`path`,{d:`M10.268 21a2 2 0 0 0 3.464 0`}],[`path`,{d:`M3.262 15.326A1 1 0 0 0 4 17h16a1 1 0 0 0 .74-1.673C19.41 13.956 18 12.499 18 8A6 6 0 0 0 6 8c0 4.499-1.411 5.956-2.738 7.326`}]],ye=[[`path`,{d:`M12 7v6`}],[`path`,{d:`M15 10H9`}],[`path`,{d:`M17 3a2 2 0 0 1 2 2v15a1 1 0 0 1-1.496.868l-4.512-2.578a2 2 0 0 0-1.984 0l-4.512 2.578A1 1 0 0 1 5 20V5a2 2 0 0 1 2-2z`}]],be=[[`path`,{d:`M5 21v-6`}],[`path`,{d:`M12 21V3`}],[`path`,{d:`M19 21V9`}]],xe=[[`path`,{d:`m6 9 6 6 6-6`}]],Se=[[`path`,{d:`m9 18 6-6-6-6`}]],Ce=[[`path`,{d:`M21.801 10A10 10 0 1 1 17 3.335`}],[`path`,{d:`m9 11 3 3L22 4`}]],we=[[`circle`,{cx:`12`,cy:`12`,r:`10`}],[`path`,{d:`m16 9-5.5 5.5L8 12`}]],Te=[[`rect`,{width:`14`,height:`14`,x:`8`,y:`8`,rx:`2`,ry:`2`}],[`path`,{d:`M4 16c-1.1 0-2-.9-2-2V4c0-1.1.9-2 2-2h10c1.1 0 2 .9 2 2`}]],Ee=[[`circle`,{cx:`12`,cy:`12`,r:`1`}],[`circle`,{cx:`19`,cy:`12`,r:`1`}],[`circle`,{cx:`5`,cy:`12`,r:`1`}]],De=[[`rect`,{width:`7`,height:`9`,x:`3`,y:`3`,rx:`1`}],[`rect`,{width:`7`,height:`5`,x:`14`,y:`3`,rx:`1`}],[`rect`,{width:`7`,height:`9`,x:`14`,y:`12`,rx:`1`}],[`rect`,{width:`7`,height:`5`,x:`3`,y:`16`,rx:`1`}]],Oe=[[`path`,{d:`M13 5h8`}],[`path`,{d:`M13 12h8`}],[`path`,{d:`M13 19h8`}],[`path`,{d:`m3 17 2 2 4-4`}],[`path`,{d:`m3 7 2 2 4-4`}]],ke=[[`path`,{d:`M2 5h20`}],[`path`,{d:`M6 12h12`}],[`path`,{d:`M9 19h6`}]],Ae=[[`path`,{d:`m16 17 5-5-5-5`}],[`path`,{d:`M21 12H9`}],[`path`,{d:`M9 21H5a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2h4`}]],je=[[`path`,{d:`M4 5h16`}],[`path`,{d:`M4 12h16`}],[`path`,{d:`M4 19h16`}]],Me=[[`path`,{d:`M12 22v-5`}],[`path`,{d:`M15 8V2`}],[`path`,{d:`M17 8a1 1 0 0 1 1 1v4a4 4 0 0 1-4 4h-4a4 4 0 0 1-4-4V9a1 1 0 0 1 1-1z`}],[`path`,{d:`M9 8V2`}]],Ne=[[`path`,{d:`M5 12h14`}],[`path`,{d:`M12 5v14`}]],Pe=[[`path`,{d:`m13.5 8.5-5 5`}],[`path`,{d:`m8.5 8.5 5 5`}],[`circle`,{cx:`11`,cy:`11`,r:`8`}],[`path`,{d:`m21 21-4.3-4.3`}]],Fe=[[`path`,{d:`m21 21-4.34-4.34`}],[`circle`,{cx:`11`,cy:`11`,r:`8`}]],Ie=[[`path`,{d:`M14.536 21.686a.5.5 0 0 0 .937-.024l6.5-19a.496.496 0 0 0-.635-.635l-19 6.5a.5.5 0 0 0-.024.937l7.93 3.18a2 2 0 0 1 1.112 1.11z`}],[`path`,{d:`m21.854 2.147-10.94 10.939`}]],Le=[[`path`,{d:`M18 6 6 18`}],[`path`,{d:`m6 6 12 12`}]],Re=(e,t,n)=>{
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
let r=/* @__PURE__ */ new Map;for(let i=t;i<=n;i++)r.set(e[i],i);return r},B=T(class extends _{constructor(t){if(super(t),t.type!==e.CHILD)throw Error(`repeat() can only be used in text expressions`)}dt(e,t,n){let r;n===void 0?n=t:t!==void 0&&(r=t);let i=[],a=[],o=0;for(let t of e)i[o]=r?r(t,o):o,a[o]=n(t,o),o++;return{values:a,keys:i}}render(e,t,n){return this.dt(e,t,n).values}update(e,[t,n,r]){let i=s(e),{values:a,keys:o}=this.dt(t,n,r);if(!Array.isArray(i))return this.ut=o,a;let c=this.ut??=[],l=[],u,f,p=0,m=i.length-1,h=0,g=a.length-1;for(;p<=m&&h<=g;)if(i[p]===null)p++;else if(i[m]===null)m--;else if(c[p]===o[h])l[h]=w(i[p],a[h]),p++,h++;else if(c[m]===o[g])l[g]=w(i[m],a[g]),m--,g--;else if(c[p]===o[g])l[g]=w(i[p],a[g]),C(e,l[g+1],i[p]),p++,g--;else if(c[m]===o[h])l[h]=w(i[m],a[h]),C(e,i[p],i[m]),m--,h++;else if(u===void 0&&(u=Re(o,h,g),f=Re(c,p,m)),u.has(c[p])){if(u.has(c[m])){let t=f.get(o[h]),n=t===void 0?null:i[t];if(n===null){let t=C(e,i[p]);w(t,a[h]),l[h]=t}else l[h]=w(n,a[h]),C(e,i[p],n),i[t]=null;h++}else d(i[m]),m--}else d(i[p]),p++;for(;h<=g;){let t=C(e,l[g+1]);w(t,a[h]),l[h++]=t}for(;p<=m;){let e=i[p++];e!==null&&d(e)}return this.ut=o,le(e,l),L}});function ze(e,t){let{url:n,patienceMs:r=12e4,retryDelayMs:i=500,silenceMs:a=31e3,parseJson:o=e=>JSON.parse(e)}=e;return{baseUrl:Be(n),getToken:t,fetch:e.fetch??((e,t)=>fetch(e,t)),silenceMs:a,retryDelayMs:i,patienceMs:r,parseJson:o,contact:{hasAnswered:e.waitsForStart===!0}}}function Be(e){let{href:t,protocol:n,username:r,password:i,search:a,hash:o}=new URL(e);if(!/^https?:$/.test(n)||r+i+a+o!==``)throw TypeError("`url` must be an http or https URL without credentials, query or fragment.");return t.replace(/\/*$/,`/`)}function Ve({retryDelayMs:e,patienceMs:t,contact:n}){let r=null,i=0;return{async wait(a,o){if(!n.hasAnswered&&Ue(a))throw a;r??=performance.now();let s=Math.min(e*2**i,e*20),c=Math.max(s*(.5+Math.random()/2),a.retryAfterMs??0);if(performance.now()-r+c>t)throw a;i+=1,await We(c,o)},reset(){r=null,i=0}}}const He=/* @__PURE__ */ new Set([`ECONNREFUSED`,`ENOTFOUND`,`EAI_AGAIN`,`EHOSTUNREACH`,`ENETUNREACH`,`UND_ERR_CONNECT_TIMEOUT`]);function Ue({code:e,cause:t}){let n=t instanceof Error?t.cause?.code:void 0;return e===`unreachable`&&typeof n==`string`&&He.has(n)}function We(e,t){return new Promise((n,r)=>{let i=()=>{clearTimeout(a),r(t?.reason)},a=setTimeout(()=>{t?.removeEventListener(`abort`,i),n()},e);t?.aborted===!0?i():t?.addEventListener(`abort`,i,{once:!0})})}var V=class extends Error{name=`BridgeClientError`;code;status;requestId;errors;retryAfterMs;queue;closeCode;constructor(e,t,n={}){super(t,{cause:n.cause}),this.code=e,this.status=n.status??null,this.requestId=n.requestId??null,this.errors=n.errors??[],this.retryAfterMs=n.retryAfterMs??null,this.queue=n.queue??null,this.closeCode=n.closeCode??null}};async function Ge(e){let{status:t,headers:n}=e,r=await e.text(),i=Ke(r),a=Number(n.get(`retry-after`)??NaN);return new V(i?.code??`unexpected_answer`,i?.detail??`HTTP ${t}: ${r.slice(0,200)}`,{status:t,requestId:i?.requestId??n.get(`x-request-id`),errors:i?.errors,queue:i?.queue,retryAfterMs:Number.isFinite(a)?a*1e3:null})}function Ke(e){try{let t=JSON.parse(e);return typeof t==`object`&&t&&`code`in t&&typeof t.code==`string`?t:null}catch{return null}}async function qe({baseUrl:e,getToken:t,fetch:n,silenceMs:r,contact:i},{path:a,method:o=`GET`,headers:s,body:c,content:l,waitMs:u=0,signal:d}){d?.throwIfAborted();let f=e+a.slice(1);if(new URL(f).href!==f)throw new V(`not_found`,`An id or a path must not be . or .., or contain one of them between slashes.`);let p=l===void 0?c===void 0?void 0:`application/json`:`application/octet-stream`,m=new Headers({...s,...p!==void 0&&{"content-type":p}});m.set(`authorization`,`Bearer ${Je(await t())}`);let h=new AbortController,g=()=>h.abort(d?.reason);d?.addEventListener(`abort`,g);async function _(t){let n=r+u,i=setTimeout(()=>h.abort(/* @__PURE__ */ Error(`no data received for ${n/1e3} s`)),n);try{return await t}catch(t){throw d?.throwIfAborted(),new V(`unreachable`,`Cannot reach Bridge at ${e}: ${Ye(t)}`,{cause:t})}finally{clearTimeout(i)}}function v(){d?.removeEventListener(`abort`,g),h.abort()}try{let e=await _(n(f,{method:o,headers:m,body:l??(c===void 0?null:JSON.stringify(c)),signal:h.signal}));if(i.hasAnswered=!0,!e.ok)throw await _(Ge(e));return{response:e,receive:_,close:v}}catch(e){throw v(),e}}function Je(e){if(/^[\x20-\x7e]*$/.test(e.trim()))return e.trim();throw TypeError(`The token contains characters that are not allowed in a header.`)}function Ye(e){return e instanceof Error?e.cause instanceof Error&&e.cause.message!==``?e.cause.message:e.message:String(e)}const Xe=({type:e})=>e===`execution.completed`||e===`execution.failed`;var Ze=class extends Error{constructor(e,t){super(e),this.name=`ParseError`,this.type=t.type,this.field=t.field,this.value=t.value,this.line=t.line}};function Qe(e){if(typeof e==`function`)throw TypeError("`config` must be an object, got a function instead. Did you mean `createParser({onEvent: fn})`?");let{maxBufferSize:t,onComment:n,onError:r,onEvent:i,onId:a,onRetry:o}=e,s=[],c=0,l=``,u,d=``,f=0,p,m=!1,h=!1,g=!1;function _(e){if(m)throw Error("Cannot feed parser: it was terminated after exceeding the configured max buffer size. Call `reset()` to resume parsing.");if(l!==void 0){if(e=l+e,e===``||e===`ï`||e===`ï»`){l=e;return}l=void 0,e=e.replace(/^(?:\uFEFF|\xEF\xBB\xBF)/,``)}if((h||g)&&(e=v(e),!e))return;if(!s.length){let t=ee(e);t!==``&&y(t),x();return}if(e.indexOf(`
`)===-1&&e.indexOf(`\r`)===-1){if(c<6&&!b(s.join(``)+e.slice(0,6-c))){s.length=0,c=0,h=!0;return}s.push(e),c+=e.length,x();return}s.push(e);let t=s.join(``);s.length=0,c=0,y(ee(t)),x()}function v(e){if(e.length===0)return e;if(g)return g=!1,e.charCodeAt(0)===10?e.slice(1):e;let t=e.indexOf(`\r`),n=e.indexOf(`
`),r=t===-1?n:n===-1||t<n?t:n;return r===-1?``:r===e.length-1&&e.charCodeAt(r)===13?(h=!1,g=!0,``):(h=!1,e.slice(r+(e.charCodeAt(r)===13&&e.charCodeAt(r+1)===10?2:1)))}function y(e){if(e){if(e.charCodeAt(e.length-1)===13){if(S(e,0,e.length-1),x())return;g=!0}else b(e)?(s.push(e),c=e.length):h=!0}}function b(e){let t=e.charCodeAt(0);return t===58&&!!n||t===100&&tt(e,`data`)||t===101&&tt(e,`event`)||t===105&&tt(e,`id`)||t===114&&tt(e,`retry`)}function x(){return m?!0:t===void 0||c+d.length<=t?!1:(m=!0,s.length=0,c=0,u=void 0,d=``,f=0,p=void 0,h=!1,g=!1,r?.(new Ze(`Buffered data exceeded max buffer size of ${t} characters`,{type:`max-buffer-size-exceeded`})),!0)}function ee(e){let t=0;if(e.indexOf(`\r`)===-1){let n=e.indexOf(`
`,t);for(;n!==-1;){if(t===n){u!==void 0&&a?.(u),f>0&&i?.({id:u,event:p,data:d}),u=void 0,d=``,f=0,p=void 0,t=n+1,n=e.indexOf(`
`,t);continue}let r=e.charCodeAt(t);if($e(e,t,r)){let r=e.charCodeAt(t+5)===32?t+6:t+5,o=e.slice(r,n);if(f===0&&e.charCodeAt(n+1)===10){u!==void 0&&a?.(u),i?.({id:u,event:p,data:o}),u=void 0,d=``,p=void 0,t=n+2,n=e.indexOf(`
`,t);continue}d=f===0?o:`${d}\n${o}`,f++}else et(e,t,r)?p=e.slice(e.charCodeAt(t+6)===32?t+7:t+6,n)||void 0:S(e,t,n);if(x())return``;t=n+1,n=e.indexOf(`
`,t)}return e.slice(t)}let n=e.indexOf(`\r`,t),r=e.indexOf(`
`,t);for(;t<e.length;){let i=-1;if(n!==-1&&r!==-1?i=n<r?n:r:n===-1?r!==-1&&(i=r):i=n===e.length-1?-1:n,i===-1)break;if(S(e,t,i),x())return``;t=i+1,e.charCodeAt(t-1)===13&&e.charCodeAt(t)===10&&t++,n!==-1&&n<t&&(n=e.indexOf(`\r`,t)),r!==-1&&r<t&&(r=e.indexOf(`
`,t))}return e.slice(t)}function S(e,t,r){if(t===r){w();return}let i=e.charCodeAt(t);if($e(e,t,i)){let n=e.charCodeAt(t+5)===32?t+6:t+5,i=e.slice(n,r);d=f===0?i:`${d}\n${i}`,f++;return}if(et(e,t,i)){p=e.slice(e.charCodeAt(t+6)===32?t+7:t+6,r)||void 0;return}if(i===105&&e.charCodeAt(t+1)===100&&e.charCodeAt(t+2)===58){let n=e.slice(e.charCodeAt(t+3)===32?t+4:t+3,r);n.includes(`\0`)||(u=n);return}if(i===58){if(n){let i=e.slice(t,r);n(i.slice(e.charCodeAt(t+1)===32?2:1))}return}let a=e.slice(t,r),o=a.indexOf(`:`);if(o===-1){C(a,``,a);return}let s=a.slice(0,o),c=a.charCodeAt(o+1)===32?2:1;C(s,a.slice(o+c),a)}function C(e,t,n){switch(e){case`event`:p=t||void 0;break;case`data`:d=f===0?t:`${d}\n${t}`,f++;break;case`id`:t.includes(`\0`)||(u=t);break;case`retry`:/^\d+$/.test(t)?o?.(parseInt(t,10)):r?.(new Ze(`Invalid \`retry\` value: "${t}"`,{type:`invalid-retry`,value:t,line:n}));break;default:r?.(new Ze(`Unknown field "${e.length>20?`${e.slice(0,20)}…`:e}"`,{type:`unknown-field`,field:e,value:t,line:n}))}}function w(){u!==void 0&&a?.(u),f>0&&i?.({id:u,event:p,data:d}),u=void 0,d=``,f=0,p=void 0}function T(e={}){if(e.consume&&s.length>0){let e=s.join(``);S(e,0,e.length)}l=``,u=void 0,d=``,f=0,p=void 0,s.length=0,c=0,m=!1,h=!1,g=!1}return{feed:_,reset:T}}function $e(e,t,n){return n===100&&e.charCodeAt(t+1)===97&&e.charCodeAt(t+2)===116&&e.charCodeAt(t+3)===97&&e.charCodeAt(t+4)===58}function et(e,t,n){return n===101&&e.charCodeAt(t+1)===118&&e.charCodeAt(t+2)===101&&e.charCodeAt(t+3)===110&&e.charCodeAt(t+4)===116&&e.charCodeAt(t+5)===58}function tt(e,t){let n=1;for(;n<e.length&&n<t.length;){if(e.charCodeAt(n)!==t.charCodeAt(n))return!1;n++}return e.length<=t.length||e.charCodeAt(t.length)===58}async function*nt({response:e,receive:t,close:n}){try{if(e.body===null)return;let n=e.body.pipeThrough(new TextDecoderStream).getReader();for(;;){let e=await t(n.read());if(e.done)return;yield e.value}}finally{n()}}async function*rt(e){let t=[],n=Qe({onId:e=>void t.push({id:e}),onEvent:({event:e=`message`,data:n})=>void t.push({event:e,data:n})});for await(let r of nt(e))n.feed(r),yield t,t=[]}const it=({status:e,code:t})=>(e===429||e===503)&&t!==`adapter_offline`,at=({status:e,code:t})=>t===`unreachable`||t===`too_slow`||e===502||e===504;function ot(e,t){return e instanceof V&&(it(e)||t&&at(e))}async function st(e,{isRepeatable:t,signal:n,...r}){let i=Ve(r);for(;;)try{return await e()}catch(e){if(!ot(e,t))throw e;await i.wait(e,n)}}async function*ct(e,{after:t,signal:n,onGap:r},i){let a=lt(e),o=Ve(i),s=t;for(;;){let t;try{let c=await qe(i,{path:a,headers:{accept:`text/event-stream`,...s!==void 0&&{"last-event-id":s}},signal:n});if(c.response.status===204)return c.close();ut(c);for await(let t of rt(c)){o.reset();for(let n of t)if(`id`in n)s=n.id;else if(n.event===`stream.gap`)dt(JSON.parse(n.data),r);else if(!n.event.startsWith(`stream.`)){let t=i.parseJson(n.data);if(yield t,typeof e==`string`&&Xe(t))return}}t=new V(`unreachable`,`Bridge ended the event stream.`)}catch(e){if(!ot(e,!0))throw e;t=e}await o.wait(t,n)}}function lt(e){if(typeof e==`string`)return`/api/v2/tasks/${encodeURIComponent(e)}/events`;let{types:t,...n}=e,r=Object.entries({...n,types:t?.join(`,`)}).filter(([,e])=>e!==void 0);return r.length===0?`/api/events`:`/api/events?${new URLSearchParams(r)}`}function ut({response:{status:e,headers:t},close:n}){let r=t.get(`content-type`)??`no content type`;if(r.startsWith(`text/event-stream`))return;n();let i=t.get(`x-request-id`);throw new V(`unexpected_answer`,`HTTP ${e}: expected an event stream, got ${r}.`,{status:e,requestId:i})}function dt(e,t){if(t===void 0)throw new V(`stream_gap`,"Events after `after` have been deleted. Set onGap to continue with the oldest stored event.");t(e)}const ft=()=>Array.from(crypto.getRandomValues(/* @__PURE__ */ new Uint8Array(16)),e=>e.toString(16).padStart(2,`0`)).join(``);function pt({response:e,receive:t,close:n}){let r=e.body?.getReader();async function i(e){try{let n=r&&await t(r.read());if(n?.value!==void 0)return e.enqueue(n.value)}catch(e){throw n(),e}n(),e.close()}return new Response(new ReadableStream({pull:i,cancel:n},{highWaterMark:0}),e)}async function mt(e,t){let n=``;for await(let t of nt(e))n+=t;try{return t(n)}catch(t){let{status:r,headers:i}=e.response,a=i.get(`x-request-id`);throw new V(`unexpected_answer`,`HTTP ${r}: ${n.slice(0,200)}`,{status:r,requestId:a,cause:t})}}const ht=e=>new URLSearchParams(Object.entries(e).filter(([,e])=>e!==void 0));function gt(e){function t(t,{isRepeatable:n=!0,...r},i=e=>e){return st(async()=>{let n=await qe(e,{path:t,...r});return i(await mt(n,e.parseJson),n.response.headers)},{...e,isRepeatable:n,signal:r.signal})}async function*n(e,n,{signal:r}){let i=ht(n);for(;;){let n=await t(`${e}?${i}`,{signal:r});if(yield n,n.meta.nextCursor===null)return;i.set(`cursor`,n.meta.nextCursor)}}return{send:t,sendForStatus(t,n){return st(async()=>{let{response:n,close:r}=await qe(e,t);return r(),n},{...e,isRepeatable:n,signal:t.signal})},async sendForBytes(t){return pt(await st(()=>qe(e,t),{...e,isRepeatable:!0,signal:t.signal}))},fetchPages:n,async*list(e,t,r){for await(let{data:i}of n(e,t,r))yield*i}}}function _t(e){let{token:t,getToken:n}=e,r=ze(e,n??(()=>t)),{send:i,sendForStatus:a,sendForBytes:o,fetchPages:s,list:c}=gt(r),l={dispatch:(e,{signal:t}={})=>i(`/api/v2/dispatch`,{method:`POST`,body:{...e,taskId:e.taskId??ft()},signal:t},(e,t)=>({...e,replayed:t.get(`idempotent-replayed`)===`true`})),async run(e,t){let{taskId:n}=await l.dispatch(e,t);return l.waitForTask(n,t)},checkDispatch:(e,{signal:t}={})=>i(`/api/v2/dispatch/check`,{method:`POST`,body:e,signal:t}),getTask:(e,{waitSeconds:t=0,signal:n}={})=>t<=0?i(H(e),{signal:n}):i(H(e),{headers:{prefer:`wait=${Math.ceil(t)}`},waitMs:t*1e3,signal:n}),getTaskRequest:(e,{signal:t}={})=>i(`${H(e)}/request`,{signal:t}),async deleteTask(e,{signal:t}={}){await a({path:H(e),method:`DELETE`,signal:t},!1)},async waitForTask(e,{signal:t}={}){let n=await l.getTask(e,{signal:t});if(Et(n.state))return n;for await(let n of l.events(e,{signal:t,onGap:()=>{}}));return l.getTask(e,{signal:t})},listTasks:(e={},t={})=>c(`/api/v2/tasks`,e,t),cancel:(e,{signal:t}={})=>i(`${H(e)}/cancel`,{method:`POST`,signal:t}),events:(e={},t={})=>ct(e,t,r),...vt({send:i,sendForStatus:a}),...yt({send:i,list:c,fetchPages:s}),listAgents:(e={})=>c(`/api/v2/agents`,{},e),getStats:(e={},{signal:t}={})=>i(`/api/v2/stats?${ht(e)}`,{signal:t}),getServiceInfo:({signal:e}={})=>i(`/`,{headers:{accept:`application/json`},signal:e}),workspaces:{list:(e={})=>c(`/api/v2/workspaces`,{},e),async putFile(e,t,n,{ifMatch:r,mustBeNew:i=!1,signal:o}={}){let s={...r!==void 0&&{"if-match":r},...i&&{"if-none-match":`*`}},c=r===void 0&&!i,l=await a({path:Tt(e,t),method:`PUT`,headers:s,content:n,signal:o},c);return{isNew:l.status===201,etag:l.headers.get(`etag`)??``}},async deleteFile(e,t,{ifMatch:n,signal:r}={}){let i=n===void 0?{}:{"if-match":n};await a({path:Tt(e,t),method:`DELETE`,headers:i,signal:r},!1)}},files:{async list(e,t={}){let n=[],r=!1;for await(let{data:i,meta:a}of s(`${H(e)}/files`,{},t))n.push(...i),r||=a.truncated===!0;return{files:n,truncated:r}},async download(e,t,{signal:n}={}){return o({path:`${H(e)}/files/${wt(t)}`,signal:n})},diff:(e,{signal:t}={})=>i(`${H(e)}/diff`,{waitMs:3e4,signal:t})},approvals:{list:(e={},t={})=>c(`/api/v2/approvals`,e,t),decide:(e,t,n,{signal:r}={})=>i(`/api/v2/approvals/${encodeURIComponent(e)}`,{method:`POST`,body:{decision:t,reason:n},signal:r,isRepeatable:!1})},attention:bt({send:i}),callbacks:xt({send:i,list:c}),webhooks:St({send:i,list:c})};return l}function vt({send:e,sendForStatus:t}){return{createTicket:({scopes:t}={},{signal:n}={})=>e(`/api/v2/events/ticket`,{method:`POST`,body:{scopes:t},signal:n}),createSignInLink:({signal:t}={})=>e(`/api/v2/sessions/link`,{method:`POST`,signal:t}),createSession:(t,{signal:n}={})=>e(`/api/v2/sessions`,{method:`POST`,body:{ticket:t},signal:n,isRepeatable:!1}),async deleteSession({signal:e}={}){await t({path:`/api/v2/sessions/current`,method:`DELETE`,signal:e},!1)},getIdentity:({signal:t}={})=>e(`/api/v2/me`,{signal:t})}}function yt({send:e,list:t,fetchPages:n}){return{listAdapters:(e={})=>t(`/api/v2/adapters`,{},e),checkAdapter:(t,{signal:n}={})=>e(`/api/v2/adapters/${encodeURIComponent(t)}/check`,{method:`POST`,waitMs:3e4,signal:n}),async listDomains(e,t={}){let r=[],i=null;for await(let{data:a,meta:o}of n(`/api/v2/domains`,{workspace:e},t))r.push(...a),i=o.settingsFault??null;return{domains:r,settingsFault:i}}}}function bt({send:e}){return{list:(t={},{signal:n}={})=>e(`/api/v2/attention?${ht(t)}`,{signal:n}),async acknowledge(t,{signal:n}={}){let r=0;for(;;){let i=await e(`/api/v2/attention/acknowledge`,{method:`POST`,body:t,signal:n});if(r+=i.acknowledged,!i.hasMore)return r}}}}function xt({send:e,list:t}){return{list:(e={},n={})=>t(`/api/v2/callbacks`,e,n),get:(t,{signal:n}={})=>e(`/api/v2/callbacks/${encodeURIComponent(t)}`,{signal:n}),redeliver:(t,{signal:n}={})=>e(`/api/v2/callbacks/${encodeURIComponent(t)}/redeliver`,{method:`POST`,signal:n,isRepeatable:!1}),redeliverAll:(t,{signal:n}={})=>Ct(e,`/api/v2/callbacks/redeliver`,{body:{origin:t},signal:n})}}function St({send:e,list:t}){let n=e=>`/api/v2/webhooks/${encodeURIComponent(e)}`;return{list:(e={})=>t(`/api/v2/webhooks`,{},e),listDeliveries:(e,r={},i={})=>t(`${n(e)}/deliveries`,r,i),redeliver:(t,r,{signal:i}={})=>e(`${n(t)}/deliveries/${encodeURIComponent(r)}/redeliver`,{method:`POST`,signal:i,isRepeatable:!1}),redeliverAll:(t,{signal:r}={})=>Ct(e,`${n(t)}/redeliver`,{body:{},signal:r})}}async function Ct(e,t,{body:n,signal:r}){let i=0,a;do{let o=await e(t,{method:`POST`,body:{...n,cursor:a},signal:r,isRepeatable:!1});i+=o.redelivered,a=o.nextCursor??void 0}while(a!==void 0);return i}const wt=e=>e.split(`/`).map(encodeURIComponent).join(`/`),Tt=(e,t)=>`/api/v2/workspaces/${encodeURIComponent(e)}/files/${wt(t)}`,H=e=>`/api/v2/tasks/${encodeURIComponent(e)}`,Et=e=>e!==`queued`&&e!==`running`,Dt={adapter_offline:{cause:`The adapter went offline while the task waited, or no node can run the task any more.`,advice:`Read the preflight of the adapter, which names what is missing. Then dispatch the task again.`,remedies:[`open_adapter`,`run_again`]},adapter_error:{cause:`The adapter failed for a reason that no other code describes.`,advice:"Read `error` and the log lines of the task. Check the adapter, then dispatch the task again.",remedies:[`open_adapter`,`run_again`]},authentication_required:{cause:`The program is not logged in, or the key is wrong.`,advice:`Set the key in the environment of Bridge, or log in with the program. Then dispatch the task again.`,remedies:[`open_adapter`,`run_again`]},user_action_required:{cause:`The runtime needs a person, for example to accept terms or to choose an account.`,advice:`Start the program once by hand as the user of Bridge, do what it asks for, and dispatch the task again.`,remedies:[`open_adapter`,`run_again`]},rate_limited:{cause:`The vendor rejects requests for now, or a usage limit is reached.`,advice:"Dispatch the task later, or lower `BRIDGE_MAX_CONCURRENT` for this adapter.",remedies:[`run_again`]},model_error:{cause:`The model failed, or it answered nothing.`,advice:"Dispatch the task again. If it fails again, read `error`, and try another `model`.",remedies:[`run_again`,`change_request`]},timeout:{cause:"The task ran longer than `timeoutSeconds`, 600 by default.",advice:"Send a larger `timeoutSeconds`, up to 86400.",remedies:[`run_longer`,`change_request`]},idle_timeout:{cause:"The runtime emitted no event for `BRIDGE_IDLE_SECONDS`, 300 by default, and no tool call was open.",advice:`Dispatch the task again. If the model is slow, raise the setting, or set it to 0 to disable the limit.`,remedies:[`run_again`]},cancelled:{cause:`A client or a person canceled the task, or its parent task ended.`,advice:`Nothing. Dispatch the task again if it is still needed.`,remedies:[`run_again`,`change_request`]},output_limit:{cause:`The runtime wrote more than Bridge stores.`,advice:`Ask for a file in the workspace instead of a long answer.`,remedies:[`change_request`]},output_invalid:{cause:"The answer does not match the output strategy, such as `outputSchema`.",advice:"Read the text in `output`. Simplify the schema, or ask for the fields in the message.",remedies:[`change_request`,`run_again`]},runtime_crashed:{cause:`The program ended without a result.`,advice:"Read `error`, which contains the end of its stderr. Run the program by hand in the workspace.",remedies:[`run_again`,`open_adapter`]},spawn_failed:{cause:`Bridge could not start the program: it is missing, not executable, or the machine has no room for it.`,advice:"Read `error`. Correct the path of the program or its permissions, or lower `BRIDGE_MAX_CONCURRENT`.",remedies:[`open_adapter`,`run_again`]},bridge_restarted:{cause:`Bridge ended while the task ran, or its node lost the PostgreSQL database for most of its lease.`,advice:'Check what the task has already done, and dispatch it again. With `"onInterrupt": "retry"`, Bridge does this once.',remedies:[`run_again`,`change_request`]},bridge_shutdown:{cause:"Bridge shut down, and the task did not end within `BRIDGE_DRAIN_SECONDS`. A task that waits for a person ends so, too.",advice:'Dispatch the task again. Raise the setting, or send `"onInterrupt": "retry"`.',remedies:[`run_again`]},max_turns:{cause:`The runtime reached its own limit of turns.`,advice:"Divide the task, or raise the limit in the settings of the runtime. A `resumeToken` continues the session.",remedies:[`change_request`]},budget_exceeded:{cause:`The runtime reached its own budget.`,advice:`Raise the budget in the settings of the runtime, or divide the task.`,remedies:[`change_request`]}},Ot=e=>Object.hasOwn(Dt,e)?Dt[e]:null;function kt(e){let t=(typeof e==`object`&&e&&!Array.isArray(e)?Object.entries(e):[[``,e]]).map(([e,t])=>[n(String(e)),n(f(t))]);if(t.reduce((e,[t,n])=>e+t.length+n.length,0)<=240&&t.reduce((e,[,t])=>e+1+t.split(`
`).length,0)<=7)return null;let r=t.length>3?[...t.slice(0,2),...t.slice(-1)]:t,i=Math.floor(240/(2*r.length)),a=r.map(([e,t])=>At(e,t,i));return t.length>3&&a.splice(2,0,`… ${t.length-3} more fields …`),a.join(`
`)}function At(e,t,n){let r=e===``?``:`${jt(e,n)}: `,i=t.split(`
`).filter(e=>e.trim()!==``),[a=``,o=``]=[i[0],i.at(-1)];if(i.length>1){let e=i.length>2?[`… ${i.length-2} more lines …`]:[];return[`${r}${jt(a,n)}`,...e,Mt(o,n)].join(`
`)}return a.length<=2*n?`${r}${a}`:[`${r}${jt(a,n)}`,Mt(a,n)].join(`
`)}const jt=(e,t)=>e.length>t?`${e.slice(0,t)}…`:e,Mt=(e,t)=>e.length>t?`…${e.slice(-t)}`:e;function Nt(e,t){let n=document.createElement(`a`);n.href=URL.createObjectURL(e),n.download=t,n.click(),URL.revokeObjectURL(n.href)}var Pt=class extends c{static properties={value:{attribute:!1},showsEnd:{attribute:!1}};#e=``;#t=2e4;willUpdate(e){e.has(`value`)&&(this.#e=f(this.value))}render(){let e=this.#e.length-this.#t,t=this.showsEnd?this.#e.slice(-this.#t):this.#e.slice(0,this.#t),r=N`<pre tabindex="0">${n(t)}</pre>`;if(e<=0)return r;let i=N`<p class="more">
      <button @click=${this.#n}>Show more (${oe(e)} left)</button>
      <button @click=${this.#r}>Save the whole text</button>
    </p>`;return this.showsEnd?N`${i}${r}`:N`${r}${i}`}#n(){this.#t+=5e4,this.requestUpdate()}#r(){Nt(new Blob([this.#e],{type:`text/plain;charset=utf-8`}),`text.txt`)}};customElements.define(`bridge-long-text`,Pt);const U=(e,{showsEnd:t=!1}={})=>N`<bridge-long-text .value=${e} .showsEnd=${t}></bridge-long-text>`;function W(e){if(typeof e!=`object`||!e||Array.isArray(e))return U(e);let t=Object.entries(e);return t.length===0?N`<p class="hint">No input.</p>`:N`<dl class="input-fields">
    ${t.map(([e,t])=>N`<div><dt>${n(e)}</dt><dd>${U(t)}</dd></div>`)}
  </dl>`}const Ft=Array.from({length:51},(e,t)=>t/50);var It=class extends c{static properties={approvalId:{attribute:!1},input:{attribute:!1},isOver:{attribute:!1},expiresAt:{attribute:!1},context:{attribute:!1}};#e=null;#t=!1;#n=null;#r=new IntersectionObserver(()=>this.#d(),{threshold:Ft});#i=null;#a;#o=null;#s=``;#c=null;disconnectedCallback(){super.disconnectedCallback(),this.#r.disconnect(),this.#n=null,clearTimeout(this.#a)}press(e){this.#i===e&&(e===`reject`||this.#d())?(this.forget(),this.#m(e)):(this.forget(),this.#l()||(this.#i=e,this.#a=setTimeout(()=>this.forget(),5e3),this.#f(),this.requestUpdate()))}forget(){let e=this.#i!==null;return clearTimeout(this.#a),this.#i=null,e&&this.requestUpdate(),e}#l(){return this.#o!==null||this.#s!==``||this.isOver===!0||!this.#u()}#u(){return this.context.identity.scopes.includes(`approve`)}#d(){let{top:e,bottom:t,height:n}=this.#n?.getBoundingClientRect()??new DOMRect,r=n+40<=innerHeight,i=n>0&&(e>=-1||!r)&&t>0&&t<=innerHeight+1;return i!==this.#t&&(this.#t=i,this.requestUpdate()),i}#f(){this.#n?.scrollIntoView({block:`nearest`}),requestAnimationFrame(()=>this.#d())}#p(){this.#t&&this.#d()?this.#m(`approve`):this.#f()}async#m(e){if(this.#l())return;this.#o=e,this.#c=null,this.requestUpdate();let{api:t,attention:n}=this.context,i=this.querySelector(`input`)?.value.trim()??``,a=`/api/v2/approvals/${encodeURIComponent(this.approvalId)}`;try{let n={decision:e,...i!==``&&{reason:i}};this.#s=Lt(await t.call(a,{method:`POST`,body:n}))}catch(e){e instanceof r&&e.code===`already_decided`?this.#s=e.message:this.#c=e instanceof r?e:new r(0,`unexpected`,String(e))}this.#o=null,n.refresh(),this.requestUpdate()}willUpdate(e){e.has(`input`)&&(this.#e=kt(this.input))}updated(){let e=this.querySelector(`.shown-input`);e!==this.#n&&(this.#r.disconnect(),this.#n=e,e!==null&&this.#r.observe(e))}render(){if(this.#s!==``)return N`${W(this.input)}<p class="note info" role="status">${n(this.#s)}</p>`;if(this.isOver===!0&&this.#o===null)return N`${W(this.input)}
        <p class="hint" role="status">
          ${ne(this,b())?`The time for a decision is over, so Bridge rejects the call.`:`No longer waiting. The timeline of the task shows the decision.`}
        </p>`;if(!this.#u())return N`${W(this.input)}<p class="hint">Your token cannot decide approvals.</p>`;let e=this.#o!==null;return N`
      ${this.#e===null?k:W(this.input)}
      <div class="shown-input">
        ${this.#e===null?W(this.input):N`<p class="hint">First and last line</p><pre>${this.#e}</pre>`}
      </div>
      <div class="decision">
        <input aria-label="Reason" placeholder="Reason (optional)" maxlength="2000" autocomplete="off" />
        <button class="primary" ?disabled=${e} @click=${this.#p}>${this.#t?`Approve`:`Show the input`}</button>
        <button class="danger" ?disabled=${e} @click=${()=>this.#m(`reject`)}>Reject</button>
        <span role="status">${e?`Sending …`:this.#h()}</span>
      </div>
      ${F(this.#c)}
    `}#h(){return this.#i===null?k:N`Press <kbd>${this.#i===`approve`?`a`:`r`}</kbd> again to ${this.#i}, <kbd>Esc</kbd> to keep it waiting.`}};customElements.define(`bridge-decision`,It);const Lt=({state:e,decidedBy:t,reason:n})=>`${e} by ${t??`?`}${n===null||n===``?``:`: ${n}`}`;function Rt(e,t){if(e===null)return N`<span class="countdown">waits without a time limit</span>`;let n=Date.parse(e)-t;return ne({expiresAt:e},t)?N`<span class="countdown">expired</span>`:N`<span class="countdown">auto-rejects in ${p(Math.ceil(n/1e3)*1e3)}</span>`}const zt=(e,t,n)=>N`<div class="empty-state">${P(e)}<p><strong>${t}</strong></p><p class="empty">${n}</p></div>`,Bt=`M2 22h28M5 22a11 11 0 0 1 22 0M10 22v-8m6 8V11m6 11v-8`,Vt=N`<svg class="icon" viewBox="0 0 32 32" fill="none" stroke="currentColor" stroke-width="3" aria-hidden="true">
  <path d=${Bt} />
</svg>`;function Ht(){let e=null,t=null;return{update(n,{approvals:r,hasMoreApprovals:i}){let a=r.length;document.title=a===0?`${n} · Bridge`:`(${a}${i?`+`:``}) ${n} · Bridge`;let o=Kt(a);o!==t&&document.querySelector(`link[rel=icon]`)?.setAttribute(`href`,o),t=o;let s=r.filter(({approvalId:t})=>e?.has(t)===!1);e=new Set(r.map(({approvalId:e})=>e)),s.length>0&&Ut()&&Gt(s)},reset(){e=null}}}const Ut=()=>`Notification`in globalThis&&Notification.permission===`granted`,Wt=()=>`Notification`in globalThis&&isSecureContext&&Notification.permission==="default";function Gt(e){let[t]=e,n=e.length===1?`${t?.agentId} wants to call ${t?.toolName}.`:`${e.length} tool calls wait.`,r=new Notification(`Bridge: approval needed`,{body:n,tag:`bridge-approval`});r.onclick=()=>{focus(),r.close()}}function Kt(e){return`data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="${Bt}" fill="none" stroke="#2563eb" stroke-width="2.5"/>${e===0?``:`<circle cx="24" cy="8" r="8" fill="#c2410c"/>`}</svg>`)}`}const qt=[`CRITICAL`,`HIGH`,`MEDIUM`,`LOW`,`INFO`];function Jt(e){let t=qt.indexOf(e??``);return t===-1?qt.length:t}const Yt=[`multi_source_confirmed`,`outputs`,`single_source_findings`,`integration_findings`,`disputed_findings`,`disputed_outputs`,`withdrawn_findings`,`withdrawn_outputs`];function Xt(e,t){let n=G(e.result?.outputs),r=t.flatMap(Zt);if(r.length===0&&!(`verdict`in n&&`roles`in n))return null;let i=$t(n,r),a=i.length>0?i:r;return{verdict:q(n.verdict),status:q(n.status),isPartial:n.partial_coverage===!0,skipped:K(n.skip_reasons).map(({bridge:e,reason:t})=>({bridge:String(e),reason:String(t)})),findings:Yt.flatMap(e=>K(n[e]).map(t=>tn(t,e))).toSorted((e,t)=>Jt(e.severity)-Jt(t.severity)),rounds:[...new Set(a.map(({round:e})=>e))].toSorted((e,t)=>e-t),roles:en(a)}}function Zt(e){let t=Qt(e);return t===null?[]:[{provider:e.provider,...t,task:e,answers:[]}]}function Qt(e){let{role:t,domain:n,round:r}=G(G(e.metadata).council);return typeof t==`string`&&typeof r==`number`?{role:t,domain:q(n)??``,round:r}:null}function $t(e,t){let n=(e,n)=>K(e).flatMap(({role:e,domain:r,round:i,answered:a,reason:o})=>{if(typeof e!=`string`||typeof i!=`number`)return[];let s=t=>t.role===e&&t.round===i&&t.domain===r,c=n===null?t.findLast(s):t.find(e=>e.provider===n&&s(e)),l=[{answered:a===!0,reason:q(o)??``}];return[{provider:n,role:e,domain:q(r)??``,round:i,task:c?.task,answers:l}]});return[...K(e.bridge_reports).flatMap(({bridge:e,roles:t})=>n(t,q(e))),...n(e.roles,q(e.bridge))]}function en(e){let t=/* @__PURE__ */ new Map;for(let{provider:n,role:r,domain:i,round:a,task:o,answers:s}of e){let e=`${r} (${[n??`all runtimes`,i].filter(e=>e!==``&&e!==r).join(` · `)})`,c=t.get(e)??/* @__PURE__ */ new Map;c.set(a,{task:o,answers:[...c.get(a)?.answers??[],...s]}),t.set(e,c)}return[...t].map(([e,t])=>({name:e,turns:t}))}function tn(e,t){let n=`output`in e?G(e.output):e,r=K(n.positions).map(({bridge:e,id:t})=>`${String(e)} ${String(t)}`),i=Array.isArray(n.confirmed_by)?`confirmed by ${n.confirmed_by.join(`, `)}`:``,a=q(e.unresolved_challenge);return{id:q(n.id)??``,severity:q(n.severity),status:t.startsWith(`withdrawn`)?`withdrawn`:t.startsWith(`disputed`)?`disputed`:q(n.status)??``,title:q(n.title)??``,description:q(n.description)??``,evidence:q(n.evidence),action:q(n.action),raisedBy:r.length>0?r.join(`, `):q(n.agent)??q(n.source_bridge)??`the council`,note:a===null?i:`challenged: ${a}`}}const G=e=>typeof e==`object`&&e&&!Array.isArray(e)?e:{},K=e=>Array.isArray(e)?e.map(G):[],q=e=>typeof e==`string`?e:null,nn={all:()=>!0,errors:e=>e.kind===`tool`&&e.isError||e.kind===`child`&&e.task.state===`failed`,tools:e=>e.kind===`tool`,text:e=>e.kind===`text`};function rn(e,t){let n=[],r=t.map(e=>({task:e,at:Date.parse(e.startedAt??e.createdAt)})).toSorted((e,t)=>e.at-t.at),i=null,a=e=>{for(;r[0]!==void 0&&r[0].at<e;)n.push({turn:i,entry:{kind:`child`,task:r[0].task}}),r.shift()};for(let t of e)for(let e of t.entries){r.length>0&&a(J(e)),i=t;let o=n.at(-1);e.kind!==`progress`||!vn(e.data)?n.push({turn:i,entry:e}):o?.turn===i&&o.entry.kind===`group`?o.entry.entries.push(e):n.push({turn:i,entry:{kind:`group`,entries:[e]}})}return a(1/0),n}function J(e){return e.kind===`child`?Date.parse(e.task.startedAt??e.task.createdAt):e.kind===`group`?Date.parse(e.entries[0].at):Date.parse(e.kind===`tool`?e.invokedAt:e.at)}function an(e,t){if(e.kind!==`tool`&&e.kind!==`child`||e.kind===`child`&&e.task.startedAt===null)return null;let n=e.kind===`tool`?e.completedAt:e.task.finishedAt;return n===null?t===null?0:t-J(e):Date.parse(n)-J(e)}function on(e,t){return e.flatMap(e=>{let n=an(e.entry,t);return n===null?[]:[{row:e,duration:n}]}).toSorted((e,t)=>t.duration-e.duration).map(({row:e})=>e)}const sn=({entry:e},t)=>e===t||e.kind===`group`&&e.entries.includes(t);function cn(e){return e.kind===`child`?e.task.finishedAt===null:e.kind===`tool`&&(e.completedAt===null||e.approval!==null&&e.approval.decision===null)}const ln=1.25,un=1e3;function dn(e,{isRunning:t}){if(!t)return Math.max(1,e);let n=Math.max(0,Math.ceil(Math.log(Math.max(1,e/un))/Math.log(ln)));return un*ln**n}const fn=[.1,.2,.5,1,2,5,10,15,30,60,120,300,600,900,1800,3600,7200,14400,28800];function pn(e){let t=(fn.find(t=>e/(1e3*t)<6)??86400)*1e3;return Array.from({length:Math.min(6,Math.ceil(e/t))},(e,n)=>n*t)}const mn=[`command`,`cmd`],hn=[`description`,`reason`,`thought`];function gn(e){if(typeof e!=`object`||!e||Array.isArray(e))return h(Y(e)??f(e));let t=Object.keys(e),n=[...mn,...t.filter(e=>!hn.includes(e)),...t];for(let t of n){let n=Object.hasOwn(e,t)?Y(e[t]):null;if(n!==null&&n!==``)return h(n)}return t.length===0?``:h(f(e))}function Y(e){if(typeof e==`string`)return e;if(typeof e==`number`||typeof e==`boolean`)return String(e);if(!Array.isArray(e))return null;let t=e.map(Y);return t.includes(null)?null:t.join(` `)}function _n(e){let t=vn(e)?bn(e):null;if(t!==null)return h(t,300);let{done:n,of:r,...i}=e,a=Object.entries(i).map(([e,t])=>`${e} ${Y(t)??JSON.stringify(t)}`),[o]=Object.keys(i).length===1?Object.values(i).map(Y):[],s=typeof n==`number`&&typeof r==`number`?[`${n} of ${r}`]:[];return h([...o==null?a:[o],...s].join(`, `),300)}const vn=({phase:e,round:t})=>typeof e==`string`&&typeof t==`number`;function yn({entries:e}){let t=/* @__PURE__ */ new Map;for(let{data:n}of e)if(n.phase!==`finding`){let e=typeof n.done==`number`&&typeof n.of==`number`?`${n.done} of ${n.of}`:`a role`;t.set(`Round ${n.round}, ${n.phase}`,`${e} answered`)}let n=e.filter(({data:e})=>e.phase===`finding`).length,r=n===0?[]:[`${n} finding${n===1?``:`s`}`];return h([...[...t].map(([e,t])=>`${e}: ${t}`),...r].join(`, `),300)}function bn({phase:e,round:t,role:n,domain:r,id:i,severity:a,title:o,done:s,of:c}){return e===`finding`?`${Y(n)??Y(r)??`Council`}: finding ${Y(i)??``} ${Y(a)??``}: ${Y(o)??``}`:typeof n==`string`?`Round ${t}, ${e}: ${n} answered${typeof s==`number`&&typeof c==`number`?`, ${s} of ${c}`:``}`:null}function xn(e){let t=Qt(e),n=Sn(e);if(t===null)return{name:e.title??e.taskId,detail:[e.agentId,e.provider,...n].join(` · `)};let r=t.domain===``||t.domain===t.role?[]:[t.domain];return{name:t.role,detail:[e.provider,...r,`round ${t.round}`,...n].join(` · `)}}function Sn({costUsd:e,usage:n}){let r=(n?.inputTokens??0)+(n?.outputTokens??0);return[...e==null?[]:[t(e)],...r===0?[]:[`${j(r)} tokens`]]}var Cn=class extends x{#e=/* @__PURE__ */ new Map;#t=null;#n;#r=[];#i=y(this,async e=>(await this.context.api.list(`/api/v2/approvals`,{limit:100},{signal:e})).data);connectedCallback(){super.connectedCallback();let{attention:e,feed:t}=this.context;this.#a(),this.#n=setInterval(()=>this.requestUpdate(),1e3),this.#r=[e.subscribe(()=>{this.#a(),this.requestUpdate()}),t.subscribe(e=>{(e?.some(({approvalId:e})=>e!==null)??!0)&&this.#i.refresh()})]}disconnectedCallback(){super.disconnectedCallback(),clearInterval(this.#n);for(let e of this.#r)e()}#a(){let{approvals:e,isLoaded:t}=this.context.attention.state;for(let t of e)this.#e.set(t.approvalId,t);if(!t)return;let n=new Set(e.map(({approvalId:e})=>e)),r=[...this.#e.keys()].filter(e=>!n.has(e)&&e!==this.#t);for(let e of r.slice(0,-10))this.#e.delete(e)}onKey(e,{repeat:t}){let n=[...this.#e.keys()];if((e===`j`||e===`k`)&&n.length>0){let t=this.#t===null?-1:n.indexOf(this.#t);return this.#t=n[Math.min(n.length-1,Math.max(0,t+(e===`j`?1:-1)))]??null,this.#o(),this.requestUpdate(),this.updateComplete.then(()=>this.querySelector(`.approval[aria-current]`)?.focus()),!0}if(e===`Escape`)return this.#o();if(e!==`a`&&e!==`r`)return!1;if(t)return!0;let r=this.#t===null?null:`[data-approval="${CSS.escape(this.#t)}"] bridge-decision`,i=r===null?null:this.querySelector(r);return i?.press(e===`a`?`approve`:`reject`),i!==null}#o(){return[...this.querySelectorAll(`bridge-decision`)].filter(e=>e.forget()).length>0}render(){let e=b(),{state:t}=this.context.attention,n=(this.#i.value??[]).filter(({approvalId:e,state:t})=>t!==`pending`&&!this.#e.has(e));return N`
      <div class="page-head">
        <h1>Approvals <span class="hint">${l(t.approvals.length,t.hasMoreApprovals)} waiting</span></h1>
        ${Wt()?N`<button @click=${this.#l}>Notify me in this browser</button>`:k}
      </div>
      ${F(this.#i.error)} ${this.#e.size===0&&t.isLoaded?wn():k}
      <ol class="approvals">
        ${B(this.#e.values(),({approvalId:e})=>e,t=>this.#s(t,e))}
      </ol>
      ${t.hasMoreApprovals?N`<p class="hint">These are the oldest. Others appear when these are decided.</p>`:k}
      ${n.length===0?k:N`<h2>Decided</h2><ul class="rows decided-calls">${n.map(t=>Tn(t,e))}</ul>`}
    `}#s(e,t){let{approvalId:r,toolName:i,agentId:a,provider:o,taskId:s,title:c,input:l,inputTruncated:u,cwd:d,createdAt:f,expiresAt:p}=e,m=this.context.attention.state.approvals.some(e=>e.approvalId===r),h=this.#i.value?.find(e=>e.approvalId===r&&e.state!==`pending`);return N`<li
      class="approval ${m?``:`over`}" tabindex="-1" aria-current=${this.#t===r?`true`:k} data-approval=${r}
      @focusin=${()=>this.#c(r)}
    >
      <h2><code>${n(i)}</code></h2>
      <p class="detail">
        ${a} · ${o} · <a href=${E(s)}>${c===null?k:N`${n(c)} · `}${s}</a> · asked ${pe(f,t)}
        ${m?N`· ${Rt(p,t)}`:k}
      </p>
      ${d==null?k:N`<p class="detail">Directory: <code>${n(d)}</code></p>`}
      ${u?N`<p class="note warning">This is only the beginning of the input. It is longer than Bridge stores.</p>`:k}
      ${h===void 0||m?N`<bridge-decision .approvalId=${r} .input=${l} .isOver=${!m} .expiresAt=${p} .context=${this.context}></bridge-decision>`:N`${W(l)}<p role="status">${En(h)} <span class="detail">${Dn(h)}</span></p>`}
    </li>`}#c(e){this.#t=e,this.requestUpdate()}async#l(){await Notification.requestPermission(),this.requestUpdate()}};const wn=()=>zt(we,`No tool call waits for a decision.`,N`<span
      >An agent asks before its tool calls if its task is dispatched with <code>"approvals": "ask"</code>, as
      <code>docs/approvals.md</code> describes. <a href=${I(`new`)}>Dispatch such a task</a></span
    >`);function Tn(e,t){let r=n(gn(e.input));return N`<li>
    ${En(e)}
    <span class="call"><strong>${n(e.toolName)}</strong> <code title=${r}>${r}</code></span>
    <span class="detail">${Dn(e)} · <a href=${E(e.taskId)}>${n(e.title??e.taskId)}</a></span>
    ${M(e.createdAt,t)}
  </li>`}const En=({state:e})=>O(e,e===`approved`?`✓`:`✕`,e),Dn=({decidedBy:e,reason:t})=>`by ${e??`?`}${t===null||t===``?``:`: ${n(t)}`}`;customElements.define(`bridge-approvals`,Cn);async function On(e,t,n,{pages:r,pageLength:i,signal:a}){let o=[],s;for(let c=0;c<r;c+=1){let r=await e.list(t,{...n,limit:i,cursor:s},{signal:a});if(o.push(...r.data),r.meta.nextCursor===null)return{data:o,meta:r.meta};s=r.meta.nextCursor}return{data:o,meta:{nextCursor:s??null}}}const kn=({kind:e,receiver:t})=>e===`callback`?`/api/v2/callbacks`:`/api/v2/webhooks/${encodeURIComponent(t??``)}`,An=(e=``)=>URL.canParse(e)?new URL(e).origin:e;async function jn(e,t){let{kind:n,receiver:r,id:i}=t;if(i!==void 0){let r=n===`callback`?kn(t):`${kn(t)}/deliveries`;return await e.call(`${r}/${encodeURIComponent(i)}/redeliver`,{method:`POST`}),1}if(r===null)return Mn(e);let a=0,o=null;do{let i={...n===`callback`&&{origin:r},...o!==null&&{cursor:o}},s=await e.call(`${kn(t)}/redeliver`,{method:`POST`,body:i});a+=s.redelivered,o=s.nextCursor}while(o!==null);return a}async function Mn(e){let t=/* @__PURE__ */ new Set,n=0,r;do{let i=await e.list(`/api/v2/callbacks`,{state:`dead`,limit:200,cursor:r});for(let r of new Set(i.data.map(({url:e})=>An(e))))t.has(r)||(t.add(r),n+=await jn(e,{kind:`callback`,receiver:r}));r=i.meta.nextCursor??void 0}while(r!==void 0);return n}async function Nn(e,t,n){let{kind:r,receiver:i,id:a}=t,o=r===`callback`?kn(t):`${kn(t)}/deliveries`,s=({url:e,taskId:t,deliveryId:n})=>a===void 0?r===`delivery`||i===null||An(e)===i:a===(r===`callback`?t:n),c=async t=>{let{data:r,meta:i}=await On(e,o,{state:t},{pages:10,pageLength:200,signal:n});return{number:r.filter(s).length,isCapped:i.nextCursor!==null}},[l,u]=await Promise.all([c(`pending`),c(`dead`)]);return{pending:l.number,dead:u.number,isCapped:l.isCapped||u.isCapped}}function Pn(e,t,n=1/0){return`${t>=n?`at least `:``}${t} ${e===`callback`?t===1?`callback`:`callbacks`:t===1?`delivery`:`deliveries`}`}function Fn(e){let{target:t,ctrlKey:n,metaKey:r,shiftKey:i}=e;t instanceof Element&&t.closest(`a, button, input, label, select, summary`)===null&&getSelection()?.isCollapsed!==!1&&(t.closest(`li, [role=row]`)?.querySelector(`a[href]`))?.dispatchEvent(new MouseEvent(`click`,{bubbles:!0,cancelable:!0,composed:!0,ctrlKey:n,metaKey:r,shiftKey:i}))}var In=class extends c{static properties={context:{attribute:!1},onChange:{attribute:!1}};#e=``;#t=`info`;#n=null;disconnectedCallback(){super.disconnectedCallback(),this.#n?.abort()}async start(e){this.#n?.abort(),this.#n=new AbortController;let{signal:t}=this.#n,{api:n,attention:i}=this.context;this.#r(`Redelivery to ${Rn(e)} …`);try{let r=await jn(n,e);i.refresh();for(let i=!0;i&&!t.aborted;){let a=await Nn(n,e,t);i=a.pending>0,this.#r(Ln(e,r,a),r>0&&a.dead>0?`warning`:`info`),this.onChange?.(),i&&await new Promise(e=>setTimeout(e,2e3))}i.refresh()}catch(e){t.aborted||this.#r(e instanceof r?e.message:String(e),`error`)}}#r(e,t=`info`){this.#e=e,this.#t=t,this.requestUpdate()}#i(){this.#n?.abort(),this.#r(``)}render(){return this.#e===``?k:N`<div class="note ${this.#t} closable">
      <span role=${this.#t===`error`?`alert`:`status`}>${n(this.#e)}</span>
      <button class="plain" aria-label="Close the message" @click=${()=>this.#i()}>${P(Le)}</button>
    </div>`}};function Ln(e,t,n){let[r,i]=[Math.min(n.pending,t),Math.min(n.dead,t)],a=Math.max(0,t-r-i),o=n.isCapped?`at least `:``,s=[...a>0&&!n.isCapped?[`${a} delivered`]:[],...i>0?[`${o}${i} still failing`]:[],...r>0?[`${o}${r} pending`]:[]];return`Redelivery of ${Pn(e.kind,t)} to ${Rn(e)}: ${s.join(`, `)||(t===0?`nothing was dead`:`started`)}.`}const Rn=({receiver:e})=>e??`all receivers`;customElements.define(`bridge-redelivery`,In);const zn=1e3,Bn=6e4;var Vn=class extends c{static properties={context:{attribute:!1},now:{attribute:!1}};#e=null;#t=!1;#n=null;#r=null;#i=null;#a=()=>{};connectedCallback(){super.connectedCallback(),this.#a=this.context.attention.subscribe(()=>this.#o()),this.#o()}#o(){this.requestUpdate();let{faults:e,isLoaded:t}=this.context.attention.state,n=JSON.stringify(e);t&&n!==this.#n&&(this.#n=n,this.#l(()=>this.#c()))}disconnectedCallback(){super.disconnectedCallback(),this.#a()}async#s(e){await this.#l(async()=>{await this.context.api.call(`/api/v2/attention/acknowledge`,{method:`POST`,body:e}),this.context.attention.refresh()})}async#c(){this.#e=await this.context.api.call(`/api/v2/attention?acknowledged=true&limit=50`)}async#l(e){this.#r=null,await e().catch(e=>{this.#r=e instanceof r?e:new r(0,`unexpected`,String(e))}),this.requestUpdate()}#u(){this.#t=!this.#t,this.requestUpdate()}render(){let{approvals:e,faults:t,faultsAt:n,isLoaded:r}=this.context.attention.state,{now:i}=this,a=this.#e?.data??[],o=new Date(n).toISOString(),s=[...Gn(t),...Kn(t,o),...qn(t)],c=t.counts.failure-s.filter(({choice:e})=>e.kind===`failure`).length;return N`
      ${F(this.#r)} <bridge-redelivery .context=${this.context}></bridge-redelivery>
      ${r&&e.length+s.length===0?N`<p class="empty">Nothing waits for a person.</p>`:k}
      <ul class="rows board" @click=${Fn}>
        ${B(e.slice(0,5),({approvalId:e})=>e,e=>Hn(e,i))}
        ${B(s,({choice:e})=>JSON.stringify({...e,until:null}),e=>this.#g(e,i))}
      </ul>
      <p class="actions">
        ${c>0?N`<a href=${I(`tasks?state=failed`)}>${c} more failed ${c===1?`task`:`tasks`}</a>`:k}
        ${c>0&&this.#d()?this.#f(`Acknowledge all failed tasks`,{kind:`failure`,all:!0,until:o}):k}
        ${a.length>0?N`<button aria-expanded=${this.#t} @click=${this.#u}>${P(this.#t?xe:Se)} Acknowledged faults</button>`:k}
      </p>
      ${this.#t&&a.length>0?Jn(a,i):k}
    `}#d(){return this.context.identity.scopes.includes(`dispatch`)}#f(e,t){return N`<button @click=${()=>this.#s(t)}>${e}</button>`}#p(e){this.#i=e,this.requestUpdate()}#m(e){this.#p(null),this.querySelector(`bridge-redelivery`)?.start(e)}#h(e){let t=`${e.kind} ${e.receiver}`;return this.#i===t?N`<span role="status">Redeliver ${Pn(e.kind,e.count,zn)}?</span>
      <button class="small" @click=${()=>this.#m(e)}>Yes, redeliver</button>
      <button class="small" @click=${()=>this.#p(null)}>No</button>`:N`<button class="small" aria-label="Redeliver all dead to ${n(e.receiver??``)}" @click=${()=>this.#p(t)}>Redeliver all</button>`}#g({sign:e,name:t,link:r,detail:i,at:a,choice:o,dead:s},c){return N`<li>
      ${e}
      <div class="what"><a href=${r}>${n(t)}</a> <span class="detail">${n(i)}</span></div>
      <div class="do">
        ${s!==void 0&&this.#d()?this.#h(s):k}
        ${this.#d()?N`<button class="small" aria-label="Acknowledge ${n(t)}" @click=${()=>this.#s(o)}>Acknowledge</button>`:k}
      </div>
      ${M(a,c)}
    </li>`}};function Hn({agentId:e,toolName:t,input:r,createdAt:i,expiresAt:a},o){return N`<li>
    ${D(`approval`)}
    <div class="what">
      <a href=${I(`approvals`)}>${e} wants to call <code>${n(t)}</code></a>
      <code class="detail">${n(gn(r))}</code>
    </div>
    <div class="do">
      ${Un(a,o)}
      <a class="button small" href=${I(`approvals`)} aria-label="Decide about ${n(t)}">Decide</a>
    </div>
    ${M(i,o)}
  </li>`}function Un(e,t){if(e===null)return k;let n=Math.max(0,Math.ceil((Date.parse(e)-t)/1e3)*1e3),r=n<Bn?`${n/1e3} s`:p(n);return N`<span class="deadline ${n<Bn?`urgent`:``}">Auto-rejects in ${r}</span>`}const Wn=e=>O(`failed`,`✕`,e),Gn=({data:e})=>e.filter(({kind:e})=>e===`failure`).map(({id:e,title:t,agentId:n,provider:r,detail:i,at:a})=>({sign:D(`failed`),name:t??e,link:E(e),at:a,detail:[...t===null?[]:[e],n,r,i].filter(e=>e!==null).join(` · `),choice:{kind:`failure`,id:e}})),Kn=({data:e,receivers:t},n)=>t.map(({kind:t,receiver:r,count:i})=>{let a=e.find(e=>e.kind===t&&e.receiver===r);return{sign:Wn(Pn(t,i,zn).replace(/(\d) /,`$1 dead `)),dead:{kind:t,receiver:r,count:i},name:r,link:I(t===`callback`?`callbacks`:`webhooks?name=${encodeURIComponent(r)}`),detail:[a?.detail,i===1?a?.taskId:null].filter(e=>e!=null).join(` · `),at:a?.at??null,choice:{kind:t,receiver:r,until:n}}}),qn=({data:e})=>e.filter(({kind:e})=>e===`adapter`).map(({id:e,detail:t})=>({sign:se(`offline`),name:e,link:I(`adapters#${encodeURIComponent(e)}`),detail:t??``,at:null,choice:{kind:`adapter`,id:e}}));function Jn(e,t){return N`<ul class="rows board" aria-label="Acknowledged faults">
    ${e.map(e=>N`<li>
        ${O(``,`·`,Yn[e.kind])}
        <div class="what">
          <span>${n(e.title??e.receiver??e.id)}</span> <span class="detail">${n(e.detail??``)}</span>
        </div>
        <span class="detail do">${Xn(e,t)}</span>
        ${M(e.at,t)}
      </li>`)}
  </ul>`}const Yn={approval:`approval`,failure:`failed task`,callback:`dead callback`,delivery:`dead delivery`,adapter:`offline adapter`},Xn=({acknowledgedBy:e,acknowledgedAt:t},n)=>t===null?``:`acknowledged by ${e??`?`}, ${o(t,n)}`;customElements.define(`bridge-needs-you`,Vn);const Zn=e=>/^[\w./:@-]+$/.test(e)&&!e.startsWith(`-`)?e:`'${e.replaceAll(`'`,`'\\''`)}'`,Qn=[`provider`,`agentId`,`message`,`taskId`,`model`,`systemPrompt`,`resumeToken`,`callbackUrl`],$n=[`profile`,`approvals`],er=[`metadata`,`bridgeInput`,`responderInput`],tr=[`task_description`,`scope`,`task_type`,`intensity`,`domains`,`provider`,`providers`],nr=[`domains`,`providers`],rr={provider:`Adapter`,agentId:`Agent`,message:`Message`,profile:`Profile`,approvals:`Approvals`,model:`Model`,timeoutSeconds:`Time limit in seconds`,output:`Output`,outputPath:`Output file`,outputSchema:`JSON Schema of the output`,taskId:`Task id`,resumeToken:`Resume token`,callbackUrl:`Callback URL`,systemPrompt:`System prompt`,metadata:`Metadata`,bridgeInput:`Input of the adapter`,responderInput:`Input of the responder`,others:`Other fields of the dispatch`,"council.task_description":`Task`,"council.scope":`Scope`,"council.task_type":`Type`,"council.intensity":`Intensity`,"council.domains":`Domains`,"council.provider":`Runtime`,"council.providers":`Runtimes`,"council.others":`Other fields of the council`};function ir(e,t=`agent`){let n=[],r=t=>e[t]??``,a=e=>{if(r(e).trim()!==``)try{return i(r(e))}catch(t){n.push({path:e,message:`must be JSON: ${t.message}`});return}},o=a(`others`)??{};(typeof o!=`object`||!o||Array.isArray(o))&&n.push({path:`others`,message:`must be a JSON object`});let s={},c=e=>t===`agent`||e!==`message`&&e!==`bridgeInput`;for(let e of Qn.filter(c))r(e).trim()!==``&&(s[e]=e===`message`?r(e):r(e).trim());for(let e of $n)r(e)!==``&&(s[e]=r(e));r(`timeoutSeconds`).trim()!==``&&(s.timeoutSeconds=Number(r(`timeoutSeconds`)));let l=sr(r(`output`),r(`outputPath`),()=>a(`outputSchema`));l!==void 0&&(s.outputStrategy=l);for(let e of er.filter(c)){let t=a(e);t!==void 0&&(s[e]=t)}return t===`council`&&(s.bridgeInput={...ar(e),...a(`council.others`)}),{body:{...s,...o},errors:n}}function ar(e){let t=tr.map(t=>[t,(e[`council.${t}`]??``).trim()]).filter(([,e])=>e!==``);return Object.fromEntries(t.map(([e,t])=>[e,nr.includes(e)?or(t):t]))}const or=e=>e.split(`,`).filter(e=>e!==``);function sr(e,t,n){return e===`file`?{type:e,path:t.trim()}:e===`structured`?{type:e,schema:n()??{}}:e===``?void 0:{type:e}}function cr(e){let{taskId:t,outputStrategy:n,timeoutSeconds:r,...i}=e,a={},o={},s=[...Qn,...$n];for(let[e,t]of Object.entries(i))s.includes(e)&&typeof t==`string`?a[e]=t:e===`bridgeInput`?Object.assign(a,lr(t),{bridgeInput:JSON.stringify(t,null,2)}):er.includes(e)?a[e]=JSON.stringify(t,null,2):o[e]=t;r!==void 0&&(a.timeoutSeconds=String(r));let{type:c=``,path:l=``,schema:u}=n??{};return Object.assign(a,{output:c,outputPath:l,...u!==void 0&&{outputSchema:JSON.stringify(u,null,2)}}),Object.keys(o).length>0&&(a.others=JSON.stringify(o,null,2)),a}function lr(e){let t={},n={};for(let[r,i]of Object.entries(e??{})){let e=tr.includes(r);e&&typeof i==`string`?t[`council.${r}`]=i:e&&Array.isArray(i)?t[`council.${r}`]=i.join(`,`):n[r]=i}return{...t,...Object.keys(n).length>0&&{"council.others":JSON.stringify(n,null,2)}}}function ur(e,t=`agent`){let[n=``,r=``]=e.split(`.`);return t===`council`&&e===`council.others`?e:t===`council`&&n===`bridgeInput`?tr.includes(r)?`council.${r}`:`council.others`:n===`outputStrategy`?r===`path`?`outputPath`:r===`schema`?`outputSchema`:`output`:[...Qn,...$n,...er,`timeoutSeconds`,`outputPath`,`outputSchema`,`others`].includes(n)?n:null}function dr(e,t){let n=t.replace(/^is required \(\w+\)$/,`is required`);return`${rr[e]??e} ${n.replace(/[.;]$/,``)}.`}const fr=(e,t)=>[`curl ${Zn(e)}`,`-H "Authorization: Bearer $BRIDGE_TOKEN"`,`-H "Content-Type: application/json"`,`-d ${Zn(JSON.stringify(t))}`].join(` \\
  `),pr=(e,t)=>`import { createBridgeClient } from "bridge-client";

const bridge = createBridgeClient({ url: ${JSON.stringify(e)}, token: process.env.BRIDGE_TOKEN ?? "" });
const { state, result } = await bridge.run(${JSON.stringify(t,null,2)});
console.log(state, result?.output);
`;async function mr(e){return navigator.clipboard===void 0?`Needs HTTPS`:navigator.clipboard.writeText(e).then(()=>null,()=>`Not permitted`)}function hr(e,t=`Copy`){return N`<button @click=${n=>{let r=n.currentTarget;mr(e).then(e=>{r.textContent=e??`Copied`,setTimeout(()=>{r.textContent=t},2e3)})}} .textContent=${t}></button>`}
/**
* @license
* Copyright 2020 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/const gr=T(class extends _{constructor(t){if(super(t),t.type!==e.PROPERTY&&t.type!==e.ATTRIBUTE&&t.type!==e.BOOLEAN_ATTRIBUTE)throw Error("The `live` directive is not allowed on child or event bindings");if(!u(t))throw Error("`live` bindings can only contain a single expression")}render(e){return e}update(t,[n]){if(n===L||n===k)return n;let r=t.element,i=t.name;if(t.type===e.PROPERTY){if(n===r[i])return L}else if(t.type===e.BOOLEAN_ATTRIBUTE){if(!!n===r.hasAttribute(i))return L}else if(t.type===e.ATTRIBUTE&&r.getAttribute(i)===n+``)return L;return le(t),n}});function X(e,t){let{name:r,type:i=`text`,hint:a=``}=e,o=r.replaceAll(`.`,`-`),s=t.faultOf(r),c=[a===``?``:`${o}-hint`,s===``?``:`${o}-error`].filter(e=>e!==``).join(` `),l={id:o,invalid:s===``?k:`true`,described:c===``?k:c},u=N`${a===``?k:N`<p class="hint" id="${o}-hint">${a}</p>`}
    ${s===``?k:N`<p class="field-error" id="${o}-error">${n(s)}</p>`}`;return i===`list`?N`<fieldset class="wide" aria-describedby=${l.described}>
      <legend>${rr[r]??r}</legend>
      ${vr(e,t)} ${u}
    </fieldset>`:N`<div class=${i===`area`?`wide`:``}>
    <label for=${o}>${rr[r]??r}</label>
    ${_r(e,t,l)} ${u}
  </div>`}function _r({name:e,type:t=`text`,list:n,none:r=`default`,usual:i=``},a,o){let{id:s,invalid:c,described:l}=o,u=a.valueOf(e),d=t=>a.onEdit(e,t.target.value);if(t===`area`){let t=e===`message`||e===`council.task_description`;return N`<textarea
      id=${s} rows=${t?5:3} .value=${gr(u)} @input=${d} aria-invalid=${c} aria-describedby=${l}
      spellcheck=${t}
    ></textarea>`}return typeof t==`object`?N`<select id=${s} @change=${d} aria-invalid=${c} aria-describedby=${l}>
      ${r===null?k:N`<option value="" ?selected=${u===``}>${i===``?r:`${i} (default)`}</option>`}
      ${t.map(e=>N`<option value=${e.value} ?selected=${e.value===u} ?disabled=${e.isDisabled===!0}>
          ${e.name??e.value}
        </option>`)}
    </select>`:N`<input
    id=${s} type=${t} .value=${gr(u)} @input=${d} list=${n??k} placeholder=${i===``?k:i} autocomplete="off" spellcheck="false"
    aria-invalid=${c} aria-describedby=${l}
  />`}function vr({name:e,choices:t=[]},n){let r=or(n.valueOf(e)),i=r.filter(e=>!t.some(t=>t.value===e)).map(e=>({value:e})),a=t=>n.onEdit(e,(r.includes(t)?r.filter(e=>e!==t):[...r,t]).join(`,`));return N`<div class="choices">
    ${[...t,...i].map(e=>N`<label class="choice" title=${e.title??k}
        ><input type="checkbox" .checked=${gr(r.includes(e.value))} @change=${()=>a(e.value)} /> ${e.name??e.value}</label
      >`)}
  </div>`}const yr=[`review`,`analysis`,`audit`,`planning`,`implementation`,`research`],br=[{value:`inspect`},{value:`modify`}],xr=[{value:`quick`,name:`quick: no debate`},{value:`standard`,name:`standard: one round of debate`},{value:`thorough`,name:`thorough: up to three rounds`}],Sr=e=>Cr(e).includes(`bridgeInput`),Cr=e=>e?.capabilities?.inputs??[];function wr(e,{provider:t,adapters:n,domains:r,usualOf:i,hintOf:a}){let o=n.filter(e=>Cr(e).length===0).map(e=>({value:e.provider})),s=r.map(({name:e,expert:t})=>({value:e,title:t})),c=t===`deep-council`;return N`
    ${X({name:`council.task_description`,type:`area`,hint:`What the council should do.`},e)}
    ${X({name:`council.scope`,type:`area`,hint:`Files, topics or a description to work on.`},e)}
    ${X({name:`council.task_type`,type:yr.map(e=>({value:e})),none:`choose one`},e)}
    ${X({name:`council.intensity`,type:xr},e)}
    ${c?k:X({name:`council.provider`,type:o},e)}
    ${X({name:`profile`,type:br,usual:i(`profile`),hint:`An implementation needs modify.`},e)}
    ${X({name:`timeoutSeconds`,type:`number`,usual:i(`timeoutSeconds`),hint:a(`timeoutSeconds`)},e)}
    ${c?X({name:`council.providers`,type:`list`,choices:o,hint:`None: those of the settings.`},e):k}
    ${X({name:`council.domains`,type:`list`,choices:s,hint:c?`None: the council chooses from the text.`:`At least one. Each has an expert.`},e)}
  `}function Tr(e){let{provider:t}=e.filter(({health:e})=>e.status===`healthy`).find(e=>Cr(e).length===0)??{};if(t===void 0)return N`<p class="empty">No tasks yet, and no adapter is ready. <a href=${I(`adapters`)}>See why</a></p>`;let n=fr(new URL(`api/v2/dispatch`,a).href,{provider:t,agentId:`auditor`,message:`Count BRIDGE in *.md`,files:[{path:`notes.md`,content:`BRIDGE is one endpoint. BRIDGE loses no task.`}]});return N`<p class="empty">No tasks yet. <a href=${I(`new`)}>Dispatch one here</a>, or from a terminal with your token in BRIDGE_TOKEN:</p>
    <pre tabindex="0"><code>${n}</code></pre>
    <p>${hr(n,`Copy as curl`)}</p>`}function Er(e,t){if(t!==`j`&&t!==`k`||e.length===0)return!1;let n=e.indexOf(document.activeElement);return e[Math.min(e.length-1,Math.max(0,n+(t===`j`?1:-1)))]?.focus(),!0}const Dr=`finished=today&state=failed`,Or=[{name:`All`,query:``},{name:`Running`,query:`state=running`},{name:`Failed today`,query:Dr},{name:`Needs approval`,query:`waitingOn=approval`},{name:`Dead callbacks`,query:`callback=dead`}];function Z(e){let t=new URLSearchParams([...e].filter(([,e])=>e!==``));return t.sort(),t.toString()}function kr(e,t){let n=`bridge.views.${t}`,r=()=>Ar(e.getItem(n)),i=t=>e.setItem(n,JSON.stringify(t));return{list:r,save:e=>i([...r().filter(({name:t})=>t!==e.name),e].slice(-20)),remove:e=>i(r().filter(t=>t.name!==e))}}function Ar(e){try{let t=JSON.parse(e??`[]`);return Array.isArray(t)?t.filter(jr):[]}catch{return[]}}const jr=e=>typeof e==`object`&&!!e&&typeof Reflect.get(e,`name`)==`string`&&typeof Reflect.get(e,`query`)==`string`,Mr=36e5,Nr={hour:{name:`Last hour`,start:e=>e-Mr},today:{name:`Today`,start:e=>new Date(e).setHours(0,0,0,0)},"7d":{name:`Last 7 days`,start:e=>e-168*Mr},"30d":{name:`Last 30 days`,start:e=>e-720*Mr}},Pr=[`search`,`state`,`provider`,`agentId`,`label`,`errorCode`,`callback`,`waitingOn`,`q`,`idPrefix`,`parentTaskId`,`root`,`createdAfter`,`createdBefore`,`finishedAfter`,`finishedBefore`],Fr=[`search`,`q`,`idPrefix`,`agentId`,`parentTaskId`,`root`,`waitingOn`],Ir=e=>e.get(`children`)===`all`||Fr.some(t=>(e.get(t)??``)!==``);function Lr(e,t){let n=n=>{let r=Nr[e.get(n)??``]?.start(t);return r===void 0?void 0:new Date(r).toISOString()},r={createdAfter:n(`created`),finishedAfter:n(`finished`)},i=Pr.map(t=>[t,e.get(t)??``]);return{...!Ir(e)&&{root:`*`},...Object.fromEntries(Object.entries(r).filter(e=>e[1]!==void 0)),...Object.fromEntries(i.filter(([,e])=>e!==``))}}const Rr=({costUsd:e,tasksWithoutCost:n})=>Br(t(e),e!==null&&n>0),zr=(e,{tasksWithoutUsage:t})=>Br(j(e),e!==null&&t>0),Br=(e,t)=>t?`${e} + ?`:e,Vr=[`cost`,`tokens`,`tasks`];function Hr({data:e},t){if(t===`tasks`)return[{kind:`completed`,label:`completed`,values:e.map(({completed:e})=>e)},{kind:`failed`,label:`failed`,values:e.map(({failed:e})=>e)},{kind:`cancelled`,label:`canceled`,values:e.map(({cancelled:e})=>e)}];let r=t===`cost`?({costUsd:e})=>e:Gr,i=Wr(e).map((t,r)=>({kind:`part-${r+1}`,label:t===null?`unknown model`:n(t),values:e.map(({parts:e=[]})=>a(e.find(e=>e.key===t)))}));function a(e){return e==null?0:r(e)}let o={kind:`others`,label:`others`,values:e.map(({otherParts:e})=>a(e))};return e.some(({otherParts:e})=>e!=null)?[...i,o]:i}const Ur=(e,n)=>e===`cost`?t(n):j(n);function Wr(e){let t=/* @__PURE__ */ new Map;for(let{key:n,costUsd:r,tasks:i}of e.flatMap(({parts:e=[]})=>e)){let{cost:e,tasks:a}=t.get(n)??{cost:0,tasks:0};t.set(n,{cost:e+(r??0),tasks:a+i})}return[...t].sort(([,e],[,t])=>t.cost-e.cost||t.tasks-e.tasks).map(([e])=>e)}const Gr=({inputTokens:e,outputTokens:t})=>e===null&&t===null?null:(e??0)+(t??0);function Kr(e,t){if(e===null||t===null)return``;if(t===0)return e===0?`no change`:`none before`;let n=e/t;if(n>=10)return`${j(Math.round(n))} times`;let r=Math.round((n-1)*100);return r===0?`no change`:`${r>0?`+`:`−`}${Math.abs(r)} %`}const qr=`state=running`,Jr=`state=queued`;var Yr=class extends x{#e=y(this,async e=>(await this.context.api.list(`/api/v2/tasks`,{root:`*`,limit:30},{signal:e})).data);#t=y(this,async e=>{let t=new Date(new Date(b()).setHours(0,0,0,0)).toISOString();return(await this.context.api.call(`/api/v2/stats?${new URLSearchParams({from:t,limit:`1`})}`,{signal:e})).total},{intervalMs:()=>15e3});#n=y(this,async e=>(await this.context.api.list(`/api/v2/tasks`,{state:`running`,root:`*`,limit:20},{signal:e})).data);#r=y(this,async e=>{let[t,n,r]=await Promise.all([qr,Jr,Dr].map(async t=>{let n={...Lr(new URLSearchParams(t),b()),limit:200},{data:r,meta:i}=await this.context.api.list(`/api/v2/tasks`,n,{signal:e});return l(r.length,i.nextCursor!==null)}));return{running:t,queued:n,failed:r}});#i;#a=[];onKey(e){return Er([...this.querySelectorAll(`.board .what > a`)],e)}connectedCallback(){super.connectedCallback();let{attention:e,feed:t}=this.context;this.#i=setInterval(()=>this.requestUpdate(),1e3),this.#a=[e.subscribe(()=>this.requestUpdate()),t.subscribe(()=>{for(let e of[this.#e,this.#n,this.#r])e.refresh()})]}disconnectedCallback(){super.disconnectedCallback(),clearInterval(this.#i);for(let e of this.#a)e()}render(){let{error:e}=this.context.attention.state,t=this.#t.value,{running:n=``,queued:r=``,failed:i=``}=this.#r.value??{};return N`
      <div class="page-head"><h1>Overview</h1><span class="hint">Times in ${ge}</span></div>
      ${F(e)}
      <ul class="figures">
        ${ei(`Running`,n,`tasks?${qr}`)} ${ei(`Queued`,r,`tasks?${Jr}`)}
        ${ei(`Failed today`,i,`tasks?${Dr}`,{isUrgent:i!==``&&i!==`0`})}
        ${ei(`Ended today`,t?.tasks??``,`usage?window=today`)}
        ${ei(`Cost today`,t===void 0?``:Rr(t),`usage?window=today`,{hint:t&&$r(t)})}
      </ul>
      <section aria-labelledby="needs-you">
        <h2 id="needs-you">Needs you</h2>
        <bridge-needs-you .context=${this.context} .now=${b()}></bridge-needs-you>
      </section>
      ${this.#o()}
    `}#o(){let{value:e=[],error:t}=this.#n,{value:n,error:r}=this.#e;if(n===void 0)return N`${F(r)}`;if(n.length===0)return Tr(this.context.attention.state.adapters);let i=b(),a=n.filter(z).toSorted((e,t)=>(t.finishedAt??``).localeCompare(e.finishedAt??``)).slice(0,10);return N`
      <section aria-labelledby="running">
        <h2 id="running">Running now</h2>
        ${F(t)}
        ${e.length===0?N`<p class="empty">Nothing runs.</p>`:k}
        <ul class="rows board" @click=${Fn}>
          ${B(e,({taskId:e})=>e,e=>Zr(e,i))}
        </ul>
        ${e.length===20?N`<p><a href=${I(`tasks?state=running`)}>All running tasks</a></p>`:k}
      </section>
      <section aria-labelledby="recent">
        <h2 id="recent">Latest ended</h2>
        ${F(r)}
        <ul class="rows board" @click=${Fn}>
          ${B(a,({taskId:e})=>e,e=>N`<li>${Qr(e,i)} ${M(e.finishedAt,i)}</li>`)}
        </ul>
        <p><a href=${I(`tasks`)}>All tasks</a></p>
      </section>
    `}};const Xr=({taskId:e,title:t,agentId:n,provider:r})=>[...t===null?[]:[e],n,r].join(` · `);function Zr(e,t){let{startedAt:n,lastProgressAt:r}=e;return N`<li>
    ${Qr(e,t)}
    <span class="detail do">${r===null?k:N`last event ${pe(r,t)}`}</span>
    ${n===null?k:N`<time datetime=${n} title=${m(n)}>for <strong>${g(t-Date.parse(n))}</strong></time>`}
  </li>`}const Qr=(e,t)=>N`
  ${D(R(e,t))}
  <div class="what">
    <a href=${E(e.taskId)}>${n(e.title??e.taskId)}</a> <span class="detail">${Xr(e)}${ie(e)}</span>
  </div>
`,$r=({tasksWithoutCost:e})=>e===0?void 0:`${e} ${e===1?`task`:`tasks`} without a known cost`;function ei(e,t,n,r={}){return N`<li class=${r.isUrgent===!0?`urgent`:``}>
    <a href=${I(n)} title=${r.hint??k}><span class="value">${t}</span> <span class="label">${e}</span></a>
  </li>`}customElements.define(`bridge-overview`,Yr);var ti=class extends c{static properties={reason:{attribute:!1},onSignIn:{attribute:!1}};#e(e){e.preventDefault();let t=new FormData(e.target),n=String(t.get(`token`)??``).trim();n!==``&&this.onSignIn(n,{remember:t.get(`remember`)===`on`})}firstUpdated(){this.querySelector(`#token`)?.focus()}render(){return N`
      <main class="sign-in">
        <h1>Bridge</h1>
        ${this.reason===null?k:N`<p class="note error" role="alert">${n(this.reason)}</p>`}
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
    `}};customElements.define(`bridge-sign-in`,ti);function ni(e,t){let n=`/api/v2/tasks/${encodeURIComponent(t)}`,r,i=null,a=!0;async function o(t){let r=await e.call(`${n}/request`,{signal:t}),{message:i,...a}=r.request;return{message:i,fields:a,isMasked:r.masked.length>0}}async function s({callback:n},r){return n===null||n.attempts===0?null:(i?.attempts!==n.attempts&&(i=await e.call(`/api/v2/callbacks/${encodeURIComponent(t)}`,{signal:r})),i)}async function c({provider:t,createdAt:n},r){let i={state:`queued`,provider:t,createdBefore:n,limit:200},{data:a,meta:o}=await e.list(`/api/v2/tasks`,i,{signal:r});return l(a.length,o.nextCursor!==null)}return async i=>{let l=()=>e.list(`${n}/files`,{limit:200},{signal:i}).catch(()=>null),[u,d,f,p]=await Promise.all([e.call(n,{signal:i}),e.list(`/api/v2/tasks`,{parentTaskId:t,limit:200},{signal:i}),r??o(i),a?l():null]);r=f,a=!1;let[m,h,g]=await Promise.all([z(u)?p??l():null,s(u,i),u.state===`queued`?c(u,i):null]);return{task:u,children:d.data.toReversed(),files:m?.data??[],request:r,callback:h,ahead:g}}}function ri({attempts:e,history:t},n){if(t.length===0)return k;let r=e-t.length;return N`<section aria-labelledby="attempts">
    <h2 id="attempts">Callback attempts <span class="hint">${e}</span></h2>
    <ul class="rows attempts">
      ${t.toReversed().map(e=>ii(e,n))}
    </ul>
    ${r===0?k:N`<p class="hint">Earlier attempts are no longer stored: ${r}.</p>`}
  </section>`}function ii({number:e,at:t,status:r,error:i,durationMs:a,response:o,responseTruncated:s},c){return N`<li>
    <strong>${e}</strong> <span>${r===null?`no response`:`HTTP ${r}`}</span>
    <span class="detail">${i===null?`delivered`:n(i)}, ${p(a)}</span>
    ${ae(t,c)}
    ${o===null||o===``?k:N`<details>
            <summary>Response ${s?N`<span class="hint">beginning</span>`:k}</summary>
            ${U(o)}
          </details>`}
  </li>`}const ai=`bridge.plain-text`,oi=/* @__PURE__ */ new Set,Q={get isOn(){return localStorage.getItem(ai)!==null},toggle(){Q.isOn?localStorage.removeItem(ai):localStorage.setItem(ai,`on`);for(let e of oi)e()},subscribe(e){return oi.add(e),()=>oi.delete(e)}};let si=null;async function ci(){si??=import(`./markdown-BDPeweBn.js`).catch(()=>null);let e=await si;return e===null&&(si=null),e}var li=class extends c{static properties={text:{attribute:!1},level:{attribute:!1},isComplete:{attribute:!1}};#e={text:``,element:null};#t=()=>{};#n=new ResizeObserver(e=>{for(let{target:t}of e)t.scrollWidth>t.clientWidth||t.scrollHeight>t.clientHeight?t.setAttribute(`tabindex`,`0`):t.removeAttribute(`tabindex`)});connectedCallback(){super.connectedCallback(),this.#t=Q.subscribe(()=>this.requestUpdate())}disconnectedCallback(){super.disconnectedCallback(),this.#t(),this.#n.disconnect(),this.#e={text:``,element:null}}willUpdate(e){this.isComplete&&!Q.isOn&&this.#e.text!==this.text&&(this.#e={text:this.text,element:null},this.#r())}async#r(){let e=this.#e,t=await ci();e.text.length>500&&await new Promise(e=>setTimeout(e));let r=await t?.renderMarkdown(e.text,{level:this.level,show:n});if(r!=null&&e===this.#e){e.element=r,this.#n.disconnect();for(let e of r.querySelectorAll(`pre, .scroll`))this.#n.observe(e);this.requestUpdate()}}render(){let{text:e,element:t}=this.#e;return!this.isComplete||Q.isOn||e!==this.text||t===null?U(this.text,{showsEnd:!this.isComplete}):N`${t}`}};customElements.define(`bridge-markdown-text`,li);const ui=(e,{level:t,isComplete:n=!0})=>N`<bridge-markdown-text .text=${e} .level=${t} .isComplete=${n}></bridge-markdown-text>`;var di=class extends c{static properties={taskId:{attribute:!1},heading:{attribute:!1},context:{attribute:!1}};#e=null;render(){return N`<details @toggle=${this.#n}>
      <summary>${n(this.heading)}</summary>
      ${this.#t()}
    </details>`}#t(){let e=this.#e;if(e===null)return k;if(e instanceof r)return N`${F(e)}`;let{output:t,outputs:i,error:a}=e.result??{};return N`
      ${t?fi(t):i===void 0?N`<p class="empty">${n(a??`No answer.`)}</p>`:U(i)}
      <p><a href=${E(e.taskId)}>The task of this role</a></p>
    `}async#n(e){e.newState===`open`&&this.#e===null&&(this.#e=await this.context.api.call(`/api/v2/tasks/${encodeURIComponent(this.taskId)}`).catch(e=>e instanceof r?e:new r(0,`unreachable`,String(e))),this.requestUpdate())}};function fi(e){try{return U(JSON.parse(e))}catch{return ui(e,{level:4})}}customElements.define(`bridge-answer`,di);const pi={PASS:[`completed`,`✓`],CONCERNS:[`approval`,`!`],FAIL:[`failed`,`✕`]},mi={SKIPPED:[`failed`,`✕`],HALTED:[`approval`,`!`],ABORTED:[`failed`,`✕`]},hi=(e,t)=>(Object.hasOwn(e,t)?e[t]:void 0)??[``,``];function gi({verdict:e,status:t,isPartial:r,skipped:i,findings:a,rounds:o,roles:s},c,l){let[u,d]=hi(pi,e??``),[f,p]=hi(mi,t??``);return N`<section aria-labelledby="council">
    <h2 id="council" class="verdict">Council ${e===null?k:O(u,d,e)}
      ${t===null||t===`COMPLETED`?k:O(f,p,t)}</h2>
    ${r?N`<p class="note warning">Not every requested runtime completed, so the coverage is partial.</p>`:k}
    ${i.map(({bridge:e,reason:t})=>N`<p class="note info"><strong>${e}</strong> did not take part: ${n(t)}</p>`)}
    ${s.length===0?k:N`<div class="scroll council-roles" tabindex="0" role="region" aria-label="Roles and rounds">
            <table class="council">
              <thead>
                <tr><th scope="col">Role</th>${o.map(e=>N`<th scope="col">Round ${e}</th>`)}</tr>
              </thead>
              <tbody>
                ${s.map(({name:e,turns:t})=>N`<tr>
                    <th scope="row">${n(e)}</th>
                    ${o.map(e=>N`<td>${vi(t.get(e),l)}</td>`)}
                  </tr>`)}
              </tbody>
            </table>
          </div>`}
    ${a.length===0?k:N`<h3>Findings <span class="hint">${a.length}</span></h3><ul class="rows findings">${a.map(bi)}</ul>`}
    ${_i(s,c)}
  </section>`}function _i(e,t){let n=e.flatMap(({name:e,turns:t})=>[...t].flatMap(([t,{task:n}])=>n===void 0||!z(n)?[]:[{name:e,round:t,taskId:n.taskId}]));return n.length===0?k:N`<details>
    <summary>Answers of the roles <span class="hint">${n.length}</span></summary>
    <ul class="rows findings">
      ${n.map(({name:e,round:n,taskId:r})=>N`<li><bridge-answer .taskId=${r} .heading=${`${e}, round ${n}`} .context=${t}></bridge-answer></li>`)}
    </ul>
  </details>`}function vi(e,t){if(e===void 0)return k;let{task:r,answers:i}=e,a=i.length>0?yi(i):r===void 0?k:D(R(r,t)),o=i.filter(({answered:e})=>!e).map(({reason:e})=>e);return N`${r===void 0?a:N`<a href=${E(r.taskId)}>${a}</a>`}
    ${o.map(e=>N`<p class="detail">${n(e)}</p>`)}`}function yi(e){let t=e.filter(({answered:e})=>e).length;return t===e.length?O(`completed`,`✓`,`answered`):t===0?O(`failed`,`✕`,`no answer`):O(`approval`,`!`,`${t} of ${e.length} answered`)}function bi({severity:e,status:t,title:r,description:i,evidence:a,action:o,raisedBy:s,note:c}){return N`<li>
    <details>
      <summary>
        ${e===null?k:O(e===`CRITICAL`||e===`HIGH`?`failed`:`approval`,`▲`,e)}
        ${t===``?k:O(``,``,t)} <span class="title">${n(r)}</span> <span class="detail">${n(s)}</span>
      </summary>
      ${c===``?k:N`<p class="detail">${n(c)}</p>`} ${ui(i,{level:4})}
      ${a===null?k:N`<h4>Evidence</h4>${U(a)}`} ${o===null?k:N`<h4>Action</h4>${ui(o,{level:5})}`}
    </details>
  </li>`}const xi={"+":`added`,"-":`removed`," ":`same`},Si=/^(?:new file|deleted file|old mode|new mode|Binary files)/;function Ci(e,t){let n=[],r={path:``,notes:[],lines:[]},[i,a,o,s]=[0,0,0,0];function c(e){let t=xi[e[0]];if(o+s>0&&t!==void 0){let[n,c]=[t!==`added`,t!==`removed`];r.lines.push({kind:t,oldNumber:n?i:null,newNumber:c?a:null,text:e.slice(1)}),n&&([i,o]=[i+1,o-1]),c&&([a,s]=[a+1,s-1])}else e.startsWith(`\\`)?r.lines.push({kind:`comment`,oldNumber:null,newNumber:null,text:e.slice(2)}):l(e)}function l(e){let t=/^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(e);t===null?e.startsWith(`diff --git `)?([o,s]=[0,0],r={path:wi(e.slice(11)),notes:[],lines:[]},n.push(r)):Si.test(e)&&r.notes.push(e):([i,o,a,s]=[t[1],t[2]??1,t[3],t[4]??1].map(Number),r.lines.push({kind:`hunk`,oldNumber:null,newNumber:null,text:e}))}let u=0;for(let r=0;u<e.length;r+=1){if(r===t)return{files:n,rest:u};let i=e.indexOf(`
`,u),a=i===-1?e.length:i;c(e.slice(u,a)),u=a+1}return{files:n,rest:null}}const wi=e=>e.slice(0,(e.length-1)/2).replace(/^a\//,``),Ti=e=>e.split("`").map((e,t)=>t%2==1?N`<code>${n(e)}</code>`:n(e)),Ei=1e3,Di=2e3,Oi={bytes:`The diff is too long. Its end is missing.`,time:`git took too long. The end of the diff is missing.`,unreadable:`git could not read a file or an object. The end of the diff is missing.`};var ki=class extends c{static properties={context:{attribute:!1},taskId:{attribute:!1}};#e=`closed`;#t=Ei;async#n(){this.#e=`loading`,this.#t=Ei,this.requestUpdate();let e=`/api/v2/tasks/${encodeURIComponent(this.taskId)}/diff`;this.#e=await this.context.api.call(e).catch(e=>e instanceof r?e:new r(0,`unreachable`,String(e))),this.requestUpdate()}render(){let e=this.#e;if(e===`closed`)return N`<button @click=${this.#n}>Show the diff</button>`;if(e===`loading`)return N`<p role="status">Comparing with the commit at the start …</p>`;let t=e instanceof r?N`<p class="note ${e.code===`invalid_state`?`info`:`error`}" role="status">${Ti(e.message)}</p>`:this.#r(e);return N`${t} <button @click=${this.#n}>Compare again</button>`}#r({commit:e,directory:t,diff:r,diffBase64:i,truncated:a,omitted:o}){let{files:s,rest:c}=Ci(r,this.#t);return N`
      <p class="hint">
        Changes since commit <code>${e.slice(0,12)}</code>${t===``?``:N` in <code>${n(t)}</code>`}, as the
        files are now.
      </p>
      ${a===null?k:N`<p class="note warning">${Oi[a]??`The end of the diff is missing.`}</p>`}
      ${typeof i==`string`?N`<p class="note info">Bytes that are not UTF-8 are shown as �.</p>`:k}
      ${o.length===0?k:N`<p class="note warning">Too large to be compared: ${n(o.join(`, `))}</p>`}
      ${r===``&&a===null?N`<p class="empty">No changes.</p>`:s.map(Ai)}
      ${c===null?k:N`<button @click=${this.#i}>Show more (${oe(r.length-c)} left)</button>`}
    `}#i(){this.#t+=5e3,this.requestUpdate()}};function Ai({path:e,notes:t,lines:r}){return N`<div class="diff">
    <h3><code>${n(e)}</code></h3>
    ${t.map(e=>N`<p class="hint">${n(e)}</p>`)}
    ${r.length===0?k:N`<table aria-label="Changes of ${n(e)}"><tbody>${r.map(Mi)}</tbody></table>`}
  </div>`}const ji={added:`+`,removed:`-`,same:` `,hunk:``,comment:``},Mi=({kind:e,oldNumber:t,newNumber:r,text:i})=>N`<tr class=${e}><td class="line">${t}</td><td class="line">${r}</td><td class="sign">${ji[e]}</td><td class="code">${n(Ni(i))}</td></tr>`,Ni=e=>e.length<=Di?e:`${e.slice(0,Di)} … (${e.length-Di} more characters)`;customElements.define(`bridge-task-diff`,ki);const Pi=(e,t)=>N`<section aria-labelledby="diff">
    <h2 id="diff">Diff</h2>
    <bridge-task-diff .taskId=${e} .context=${t}></bridge-task-diff>
  </section>`;function Fi(e,t){let{attempts:n}=e;return[`${n} ${n===1?`attempt`:`attempts`}`,Ii(e,t)].filter(e=>e!==``).join(`, `)}function Ii({lastStatus:e,lastError:t,nextAttemptAt:r},i){let a=[];return e!==null&&a.push(`HTTP ${e}`),t!==null&&t!==`http_${e}`&&a.push(n(t)),r!==null&&a.push(`next at ${o(r,i)}`),a.join(`, `)}function Li(e,n){let{result:r,createdAt:i,startedAt:a,finishedAt:o}=e,s=o===null?n:Date.parse(o),c=r?.usage,l=[[`Started`,a===null?`not yet`:N`${ae(a,n)} <span class="detail">(${pe(a,n)})</span>`],[`Duration`,a===null?``:p(s-Date.parse(a))],[`Queue wait`,p((a===null?s:Date.parse(a))-Date.parse(i))],[`Cost`,r===null?``:t(r.costUsd)],[`Tokens`,r===null?``:c===void 0?`?`:`${j(c.inputTokens)} in, ${j(c.outputTokens)} out`]];return N`<dl class="task-figures">${l.map(([e,t])=>N`<div><dt>${e}</dt><dd>${t}</dd></div>`)}</dl>`}function Ri(e,t){let{result:r,callback:i}=e,a=Object.entries(e.labels),o=[[`Agent`,N`<a href=${I(`tasks?agentId=${encodeURIComponent(e.agentId)}`)}>${e.agentId}</a>`],[`Adapter`,N`<a href=${I(`adapters#${encodeURIComponent(e.provider)}`)}>${e.provider}</a>${r===null?k:` · ${r.connection}`}`],[`Model`,e.model??(r===null?null:`?`)],[`Labels`,a.length===0?null:a.map(([e,t])=>{let r=`${e}=${t}`;return N`<a class="chip" href=${I(`tasks?label=${encodeURIComponent(r)}`)}>${n(r)}</a> `})],[`Created`,ae(e.createdAt,t)],[`Ended`,e.finishedAt===null?null:ae(e.finishedAt,t)],[`Parent`,e.parentTaskId===null?null:N`<a href=${E(e.parentTaskId)}>${n(e.parentTaskId)}</a>`],[`Node`,e.node],[`Callback`,i===null?null:N`${re(i)} ${n(i.url)}
            <span class="detail">${z(e)?Fi(i,t):`starts when the task ends`}</span>`],[`Metadata`,e.metadata===null?null:N`<code>${n(h(f(e.metadata),400))}</code>`]];return N`<dl class="facts">
    ${o.filter(([,e])=>e!==null).map(([e,t])=>N`<div><dt>${e}</dt><dd>${t}</dd></div>`)}
  </dl>`}const zi=[`timeout`,`idle_timeout`,`cancelled`,`bridge_restarted`,`bridge_shutdown`];function Bi({state:e,errorCode:t,result:n,taskId:r,provider:i},a){if(e!==`failed`&&e!==`cancelled`)return k;let o=t??n?.errorCode??e,s=Ot(o),c=n?.error===void 0||zi.includes(o);return N`<section class="failure ${e}" aria-label="Why the task failed">
    ${Vi(o,n?.error??s?.cause??``)}
    ${s===null?k:N`<p class="advice">${c?k:N`${Ti(s.cause)} `}${Ti(s.advice)}</p>
            <div class="actions">${s.remedies.map(e=>Hi(e,{taskId:r,provider:i},a))}</div>`}
  </section>`}const Vi=(e,t)=>t.length>400||t.includes(`
`)?N`<p><strong>${e}</strong></p>${U(t)}`:N`<p><strong>${e}</strong> ${n(t)}</p>`;function Hi(e,{taskId:t,provider:n},{mayDispatch:r,longerLimit:i,runAgain:a}){switch(e){case`open_adapter`:return N`<a class="button" href=${I(`adapters#${encodeURIComponent(n)}`)}>Open the adapter ${n}</a>`;case`change_request`:return r?N`<a class="button" href=${I(`new?from=${encodeURIComponent(t)}`)}>Run again with changes</a>`:k;case`run_again`:return r?N`<button @click=${()=>a({})}>Run again</button>`:k;case`run_longer`:return!r||i===null?k:N`<button @click=${()=>a({timeoutSeconds:i})}>Run again with ${p(i*1e3)}</button>`}}function Ui(e,t){return e.length===0?k:N`<section aria-labelledby="files">
    <h2 id="files">Files <span class="hint">${e.length}${e.length===200?`+`:``}</span></h2>
    <ul class="rows">
      ${e.map(e=>N`<li>
          <code>${n(e.path)}</code> <span class="detail">${oe(e.bytes)}</span>
          <button @click=${()=>t(e)} aria-label="Download ${n(e.path)}">Download</button>
        </li>`)}
    </ul>
  </section>`}function Wi(e,t){let n=e=>e.currentTarget.closest(`details`)?.removeAttribute(`open`);return N`<details class="menu" @focusout=${e=>{e.currentTarget.contains(e.relatedTarget)||n(e)}} @keydown=${e=>{e.key===`Escape`&&(n(e),e.currentTarget.querySelector(`summary`)?.focus())}}>
    <summary aria-label=${e}>${P(Ee)}</summary>
    <ul>
      ${t.map(({name:e,run:t})=>N`<li><button @click=${e=>{n(e),t()}}>${e}</button></li>`)}
    </ul>
  </details>`}function Gi(e,t,r,i){return N`<div class="task-head">
    <p class="crumb">
      <a href=${I(`tasks`)}>Tasks</a> / <code>${n(e.taskId)}</code>
      <button class="plain small" @click=${()=>r.copy(e.taskId,`id`)} aria-label="Copy the id">${P(Te)}</button>
    </p>
    <div class="page-head">
      <h1>${n(e.title??e.taskId)} ${D(t)}</h1>
      <div class="actions">${Ji(e,r)} ${Wi(`More actions`,Ki(e,r))}</div>
    </div>
    ${Li(e,i)}
  </div>`}function Ki(e,{mayDispatch:t,ask:n,copy:r,togglePlainText:i}){let{taskId:a}=e;return[{name:`Copy the link`,run:()=>r(E(a),`link`)},{name:`Copy as curl`,run:()=>r(Xi(`/api/v2/tasks/${encodeURIComponent(a)}`),`curl command`)},{name:`Copy as command`,run:()=>r(`brg task ${Zn(a)}`,`command`)},{name:`Save as JSON`,run:()=>Nt(new Blob([JSON.stringify(e,null,2)],{type:`application/json`}),`${a}.json`)},{name:Q.isOn?`Show Markdown`:`Show plain text`,run:i},...t&&z(e)?[{name:`Delete …`,run:()=>n(`delete`)}]:[]]}const qi={cancel:`Cancel this task and its child tasks?`,delete:`Delete this task with its events and its callback?`};function Ji(e,{mayDispatch:t,question:n,ask:r,confirm:i,runAgain:a,redeliver:o}){return t?n===null?N`
    ${z(e)?k:N`<button class="danger" @click=${()=>r(`cancel`)}>Cancel</button>`}
    ${e.callback?.state===`dead`?N`<button @click=${o}>Redeliver the callback</button>`:k}
    ${e.state===`completed`?N`<button @click=${a}>Run again</button>`:k}
    ${Yi(e)?k:N`<a class="button" href=${I(`new?from=${encodeURIComponent(e.taskId)}`)}>Run again with changes</a>`}
  `:N`<span>${qi[n]}</span>
      <button class="danger" @click=${()=>i(n)}>Yes, ${n}</button>
      <button @click=${()=>r(null)}>No</button>`:k}const Yi=({state:e,errorCode:t})=>(e===`failed`||e===`cancelled`)&&Ot(t??e)?.remedies.includes(`change_request`)===!0,Xi=e=>`curl ${Zn(new URL(e.slice(1),a).href)} -H "Authorization: Bearer $BRIDGE_TOKEN"`;function Zi({result:e,state:t}){return e===null?null:t===`completed`?e.output?{text:e.output.trim(),note:`The answer, which is shown as the result.`}:null:e.error?{text:e.error.trim(),note:`The error, which is shown above.`}:null}function Qi({result:e,state:t},n,{isFolded:r}){if(e===null)return k;let{error:i,output:a=``,outputs:o}=e,s=t!==`completed`&&(a.trim()===(i??``).trim()||$i(n,a.trim())),c=a===``||s?k:ui(ea(a),{level:3});return t!==`completed`&&c===k&&o===void 0?k:N`<section aria-labelledby="result">
    <h2 id="result">${t===`completed`?`Result`:`Output before the end`}</h2>
    ${r&&c!==k?N`<details><summary>The whole report</summary>${c}</details>`:c}
    ${o===void 0?k:N`<details ?open=${a===``}><summary>Structured output</summary>${U(o)}</details>`}
    ${c===k&&o===void 0?N`<p class="empty">No output.</p>`:k}
  </section>`}const $i=({turns:e},t)=>e.some(({entries:e})=>e.some(e=>e.kind===`text`&&!e.isDiscarded&&e.text.trim()===t)),ea=e=>e.replace(/^---\n(?:[\w-]+: .*\n)+---\n/,``);function ta({message:e,fields:t}){return N`<section aria-labelledby="request">
    <h2 id="request">Request</h2>
    ${typeof e==`string`&&e!==``?U(e):k}
    <details><summary>All fields</summary>${U(t)}</details>
  </section>`}function na({start:e,length:t},n,r,{label:i,kind:a=``,wait:o=null}){let s=n=>Math.min(100,Math.max(0,(n-e)/t*100)),c=(e,t,n)=>{let[r,i]=[s(e),s(t)];return ue`<g class="bar ${n}"><rect x="${r}%" width="${i-r}%" /><rect
      class="least ${r>50?`late`:``}" x="${r>50?i:r}%" /></g>`};return N`<svg class="lane" role="img" aria-label=${i}>
    <rect class="track" width="100%" />
    ${c(n,r,a)} ${o===null?k:c(...o,`wait`)}
  </svg>`}function ra({length:e}){return N`<svg class="axis" aria-hidden="true">
    ${pn(e).map(t=>{let n=`${100*t/e}%`;return ue`<line x1=${n} x2=${n} y1="20" y2="100%" /><text x=${n} y="13">${t===0?`0`:p(t)}</text>`})}
  </svg>`}function ia(e,t,{at:n,onMove:r}){let i=e.map(({entry:e})=>J(e)),a=n=>{let a=Number(n.target.value),o=a===159?-1:i.findIndex(e=>e>=t.start+a/160*t.length);r(o===-1?e.length-1:o)},o=i[n]===void 0?0:aa(i[n],t);return N`<div class="minimap">
    <svg viewBox="0 0 ${160} ${24}" preserveAspectRatio="none" aria-hidden="true">
      <path class="bars" d=${sa(oa(i,t))} />
      <path class="failed" d=${sa(oa(i.filter((t,n)=>nn.errors(e[n].entry)),t))} />
    </svg>
    <input type="range" min="0" max=${159} .value=${String(o)} aria-label="Time in the timeline" @change=${a} />
  </div>`}const aa=(e,{start:t,length:n})=>Math.min(159,Math.max(0,Math.floor((e-t)/n*160)));function oa(e,t){let n=Array.from({length:160},()=>0);for(let r of e)n[aa(r,t)]=n[aa(r,t)]+1;return n}function sa(e){return e.map((e,t)=>{let n=e===0?0:Math.min(24,6+4*Math.log2(e));return n===0?``:`M${t} 24v${-n}h0.8v${n}z`}).join(``)}var ca=class extends c{static properties={call:{attribute:!1},revision:{attribute:!1},offset:{attribute:!1},axis:{attribute:!1},now:{attribute:!1},isRunning:{attribute:!1},isForced:{attribute:!1}};#e=!1;willUpdate(e){e.has(`isForced`)&&e.get(`isForced`)!==void 0?this.#e=this.isForced:this.isForced&&!this.hasUpdated&&(this.#e=!0)}render(){let{toolName:e,input:t,isError:r,completedAt:i,invokedAt:a,approval:o}=this.call,s=this.call.isCutOff||i===null&&!this.isRunning,c=Date.parse(a),l=i===null?this.isRunning?this.now:this.axis.start+this.axis.length:Date.parse(i),u=p(l-c),d=s?`cut off`:i===null?`running for ${u}`:u,f=s?`cut`:r?`failed`:i===null?`open`:``,m=o&&[Date.parse(o.requestedAt),o.resolvedAt===null?l:Date.parse(o.resolvedAt)],h=m&&`, ${p(m[1]-m[0])} of it waiting for approval`;return N`<details class=${r?`is-error`:``} ?open=${this.#e} @toggle=${this.#t}>
      <summary>
        <span class="offset">${this.offset}</span>
        <span class="line" title=${n(gn(t))}
          ><code class="tool">${n(e)}</code> <span class="input">${n(gn(t))}</span> ${r?O(`failed`,`✕`,`error`):k}</span
        >
        ${na(this.axis,c,l,{label:`${d}${h??``}`,kind:f,wait:m})}
        <span class="time ${f}">${d}</span>
      </summary>
      ${this.#e?this.#n():k}
    </details>`}#t(e){let t=e.newState===`open`;t!==this.#e&&(this.#e=t,this.requestUpdate())}#n(){let{input:e,output:t,completedAt:n,isTruncated:r}=this.call;return N`<div class="body">
      ${r?N`<p class="note warning">Bridge cut this call, because it is longer than an event may be.</p>`:k}
      <h4>Input</h4>
      ${W(e)}
      ${n===null?k:N`<h4>Output</h4>${U(t)}`}
    </div>`}};customElements.define(`bridge-call`,ca);function la(e,t){let{axis:r,isRunning:i,isForced:a,context:o}=t,s=fa(J(e)-r.start),c=N`<span class="offset">${s}</span>`;switch(e.kind){case`text`:return N`${c}${ua(e,t)}${da(e,r)}`;case`progress`:return N`${c}<p class="progress">${n(_n(e.data))}</p>`;case`group`:return e.entries.length===1?N`${c}<p class="progress">${n(_n(e.entries[0]?.data??{}))}</p>`:N`${c}<details class="progress">
          <summary>${n(yn(e))}</summary>
          <ul>${e.entries.map(({data:e})=>N`<li>${n(_n(e))}</li>`)}</ul>
        </details>`;case`child`:return N`${c}${pa(e.task,t)}`;case`tool`:return N`<bridge-call
          .call=${e} .offset=${s} .axis=${r} .now=${cn(e)?t.now:0} .isRunning=${i}
          .revision=${`${e.completedAt}${e.isTruncated}`} .isForced=${a}
        ></bridge-call>
        ${ma(e,o,t)}`}}function ua(e,{isRunning:t,shown:n,growing:r}){return e.isDiscarded?N`<p class="hint">The runtime discarded ${e.text.length} characters of text.</p>`:n!==null&&e.text.trim()===n.text?N`<p class="hint">${n.note}</p>`:N`<div class="answer">${ui(e.text,{level:4,isComplete:!t||e!==r})}</div>`}function da({at:e,since:t},n){let[r,i]=[t===null?n.start:Date.parse(t),Date.parse(e)];return na(n,r,i,{label:`Model: ${p(i-r)}`,kind:`model`})}function fa(e){let t=Math.max(0,e)/1e3;if(t<10)return`+${t.toFixed(1)} s`;let n=e=>String(Math.floor(e)).padStart(2,`0`),[r,i]=[Math.floor(t/3600),Math.floor(t%3600/60)];return r===0?`+${i}:${n(t%60)}`:`+${r}:${n(i)}:${n(t%60)}`}function pa(e,{axis:t,now:r}){let{name:i,detail:a}=xn(e),o=J({kind:`child`,task:e}),s=e.finishedAt===null?r:Date.parse(e.finishedAt),c=e.startedAt===null?`not started`:p(s-o);return N`<span class="line" title="${n(i)} ${n(a)}"
      >${e.state===`completed`?`↳`:D(R(e,r))} <a href=${E(e.taskId)}>${n(i)}</a> <span class="detail">${n(a)}</span></span
    >
    ${na(t,o,e.startedAt===null?o:s,{label:`Child task: ${c}`,kind:e.state===`failed`?`failed`:`child`})}
    <span class="time">${c}</span>`}function ma(e,t,{isRunning:r,now:i}){let{approval:a}=e;return a===null?k:a.decision===null?r?N`<div class="waiting">
    <p>${O(`approval`,`!`,`needs approval`)} ${Rt(a.expiresAt,i)}</p>
    <bridge-decision
      .approvalId=${a.approvalId} .input=${e.input} .isOver=${ne(a,i)} .expiresAt=${a.expiresAt}
      .context=${t}
    ></bridge-decision>
  </div>`:k:N`<p class="hint decided">
      ${a.decision===`approve`?`Approved`:`Rejected`} by ${a.by}${a.reason===null?``:`: ${n(a.reason)}`}
    </p>`}var ha=class extends c{static properties={timeline:{attribute:!1},task:{attribute:!1},childTasks:{attribute:!1},context:{attribute:!1},now:{attribute:!1},count:{attribute:!1},shown:{attribute:!1}};#e=`all`;#t=null;#n=null;#r=100;#i=!1;#a=null;#o=!1;updated(e){let{marked:t}=this.timeline;if(t===null||this.#o)return;let n=this.querySelector(`.marked`);if(n!==null){this.#o=!0,n.scrollIntoView({block:`center`});return}let r=this.#s().findIndex(e=>sn(e,t));r!==-1&&this.#c(r)}#s(){let{entryCount:e,turns:t}=this.timeline;return(this.#a?.entryCount!==e||this.#a.childTasks!==this.childTasks)&&(this.#a={entryCount:e,childTasks:this.childTasks,rows:rn(t,this.childTasks)}),this.#a.rows}#c(e){this.#n=Math.max(0,e-5),this.#r=100,this.requestUpdate()}#l(e){return()=>{e(),this.requestUpdate()}}#u(){let{startedAt:e,createdAt:t,finishedAt:n}=this.task,r=Date.parse(e??t);return{start:r,length:dn((n===null?this.now:Date.parse(n))-r,{isRunning:!z(this.task)})}}render(){let e=this.#s(),t=!z(this.task);if(e.length===0)return N`<p class="empty">No text and no tool calls${t?` yet`:``}.</p>`;let n=this.#u(),r=this.#t??(t?`newest`:`oldest`),i=this.#e===`all`?e:e.filter(({entry:e})=>nn[this.#e](e)),a=r===`longest`?on(i,t?this.now:null):i,o=r===`newest`,s=this.#n??(o?Math.max(0,a.length-this.#r):0),c=this.#n===null&&o?a.length:Math.min(a.length,s+this.#r),[l,u]=r===`longest`?[`longer`,`shorter`]:[`earlier`,`later`],d=s===0?k:this.#p(l,s,()=>this.#f(s)),f=c===a.length?k:this.#p(u,a.length-c,()=>this.#d(s));return N`
      ${this.#m(e,r)}
      ${a.length<40||r===`longest`?k:de([ya(a.length),n.length,this.#e,s],()=>ia(a,n,{at:s,onMove:e=>this.#c(e)}))}
      ${o?f:d}
      ${a.length===0?N`<p class="empty">Nothing in the timeline matches.</p>`:this.#h(a.slice(s,c),n,r)}
      ${o?d:f}
    `}#d(e){this.#n=e,this.#r+=100}#f(e){let t=Math.min(100,e);this.#n!==null&&(this.#n=e-t),this.#r+=t}#p(e,t,n){return N`<button class="plain" @click=${this.#l(n)}>Show ${Math.min(100,t)} ${e} entries (${t} left)</button>`}#m(e,t){let n=e=>this.#l(()=>{this.#e=e,this.#n=null,this.#r=100});return N`<div class="timeline-tools">
      <div role="group" aria-label="Entries">
        ${Object.keys(nn).map(t=>{let r=e.filter(({entry:e})=>nn[t](e)).length;return r===0?k:N`<button aria-pressed=${t===this.#e} @click=${n(t)}>${ga[t]} <span class="detail">${r}</span></button>`})}
      </div>
      <button @click=${this.#l(()=>{this.#i=!this.#i})}>${this.#i?`Close`:`Open`} all</button>
      <select aria-label="Order" @change=${e=>{this.#t=e.target.value,this.#n=null,this.requestUpdate()}}>
        ${Object.keys(_a).map(e=>N`<option value=${e} ?selected=${e===t}>${_a[e]}</option>`)}
      </select>
    </div>`}#h(e,t,n){let r=!z(this.task),{timeline:i,now:a,shown:o,context:s}=this,c=n===`longest`?e.map(({turn:e,entry:t})=>({turn:e,entries:[t]})):ba(e),l={axis:t,now:a,isRunning:r,shown:o,growing:i.turns.at(-1)?.entries.at(-1),isForced:this.#i,context:s};return N`<div class="timeline-panel ${c.some(({turn:e})=>e!==null&&va(e))?``:`without-turns`}">
      ${de([t.length],()=>ra(t))}
      <ol class="timeline">
        ${B(n===`newest`?c.toReversed():c,e=>xa(e,n),({turn:e,entries:s})=>{let c=r&&s.some(cn)?a:Math.floor(a/6e4),u=s.map(e=>e.kind===`child`?`${e.task.taskId} ${e.task.state}`:``).join(),d=e===i.turns.at(-1),f=[e,e?.revision,s.length,s[0],u,r,d,c,t.length,i.marked,this.#i,n,o?.text];return N`<li>${de(f,()=>this.#g(e,n===`newest`?s.toReversed():s,l))}</li>`})}
      </ol>
    </div>`}#g(e,t,n){let{marked:r}=this.timeline,i=e!==null&&va(e),a=t=>r!==null&&sn({turn:e,entry:t},r);return N`${i?N`<h3 title=${o(e.startedAt,n.now)}>Turn ${e.number}</h3>`:N`<span></span>`}
      <div class="entries">
        ${t.map(e=>N`<div class="entry ${e.kind} ${a(e)?`marked`:``}">${la(e,n)}</div>`)}
      </div>`}};const ga={all:`All`,errors:`Errors`,tools:`Tools`,text:`Text`},_a={oldest:`Oldest first`,newest:`Newest first`,longest:`Longest first`},va=({entries:e})=>e.some(({kind:e})=>e!==`progress`),ya=e=>Math.floor(Math.log(e)/Math.log(1.02));function ba(e){let t=[];for(let{turn:n,entry:r}of e){let e=t.at(-1);e!==void 0&&e.turn===n?e.entries.push(r):t.push({turn:n,entries:[r]})}return t}function xa({turn:e,entries:[t]},n){return t?.kind===`child`&&(n===`longest`||e===null)?`child ${t.task.taskId}`:n===`longest`?t:e?.number??`start`}customElements.define(`bridge-timeline`,ha);const Sa=({timeline:e,task:t,childTasks:n,shown:r,context:i,now:a})=>N`<bridge-timeline
    .timeline=${e} .count=${e.count} .task=${t} .childTasks=${n} .shown=${r} .context=${i} .now=${a}
  ></bridge-timeline>`,Ca=86400,wa=new Map(Object.entries({model_error:`model`,output_limit:`message`,output_invalid:`message`,max_turns:`message`,budget_exceeded:`message`}));function Ta(e,t){let{errorCode:n,taskId:r}=e;if(n===`timeout`){let n=Ea(e,Number(t.timeoutSeconds||NaN));return n===null?{field:`timeoutSeconds`,reason:`${r} has reached this limit, which is the longest one.`}:{field:`timeoutSeconds`,value:String(n),reason:`${n<Ca?`Twice as long as before`:`The longest limit`}, because ${r} ran into its time limit.`}}let i=n===`output_invalid`&&t.output===`structured`?`outputSchema`:wa.get(n??``);return i===void 0||n===null?null:{field:i,reason:`${r} failed with ${n}. ${Ot(n)?.advice.replaceAll("`",``)??``}`}}function Ea({startedAt:e,finishedAt:t},n){let r=e===null||t===null?0:Math.round((Date.parse(t)-Date.parse(e))/1e3),i=Number.isNaN(n)?60*Math.max(1,Math.ceil(r/60)):n;return i>=Ca?null:Math.min(Ca,2*i)}function Da(e=null){let t=[],n=/* @__PURE__ */ new Map,r=/* @__PURE__ */ new WeakMap,i=0,a=0,o,s=null,c=0,l=null,u=e=>i===0&&e.entries.some(({kind:e})=>e===`tool`);function d(e,{isModel:n}){let r=t.at(-1);if(r!==void 0&&!(n&&u(r)))return r;let i={number:t.length+1,startedAt:e,entries:[],revision:0};return t.push(i),i}function f(e,t){return e.entries.push(t),r.set(t,e),a+=1,t}function p(e,t){let n=d(e,{isModel:!0}),r=n.entries.at(-1);return r?.kind===`text`&&!r.isDiscarded?Object.assign(r,{text:r.text+t}):f(n,{kind:`text`,at:e,since:s,text:t,isDiscarded:!1})}function m(e,{toolCallId:t,toolName:r,input:a}){let o=n.get(t);if(o!==void 0)return o;let s=f(d(e,{isModel:!0}),Oa(e,{toolCallId:t,toolName:r,input:a}));return n.set(t,s),i+=1,s}function h(e,t){let n=m(e,{...t,input:null});n.completedAt===null&&--i;let r=t.output===`The task ended before the runtime reported the end of this call.`;return Object.assign(n,{completedAt:e,output:t.output,isError:t.isError&&!r,isCutOff:r})}function g(e){let{timestamp:r}=e;switch(e.type){case`assistant.text`:return p(r,e.data.content);case`assistant.text_discarded`:return Aa(t),null;case`tool.invoked`:{let t=m(r,e.data);return t.isTruncated||=e.data.truncated===!0,t}case`tool.completed`:{let t=h(r,e.data);return t.isTruncated||=e.data.truncated===!0,t}case`tool.approval_requested`:return Object.assign(m(r,e.data),{approval:ka(r,e.data)});case`tool.approval_resolved`:{let{toolCallId:t,decision:i,by:a,reason:o}=e.data,s=n.get(t);return s?.approval!=null&&Object.assign(s.approval,{decision:i,by:a,reason:o,resolvedAt:r}),s??null}case`execution.progress`:return f(d(r,{isModel:!1}),{kind:`progress`,at:r,data:e.data});default:return null}}return{turns:t,get marked(){return l},get lastEventId(){return o},get lastEventAt(){return s},get entryCount(){return a},get count(){return c},add(t){let n=g(t);o=t.id,s=t.timestamp,c+=1,n!==null&&(r.get(n).revision+=1),t.id===e&&(l=n)}}}const Oa=(e,t)=>({kind:`tool`,...t,invokedAt:e,completedAt:null,output:null,isError:!1,isCutOff:!1,isTruncated:!1,approval:null}),ka=(e,{approvalId:t,expiresAt:n})=>({approvalId:t,requestedAt:e,resolvedAt:null,expiresAt:n,decision:null,by:null,reason:null});function Aa(e){for(let t of e.toReversed())for(let e of t.entries.toReversed()){if(e.kind===`tool`)return;e.kind===`text`&&(e.isDiscarded=!0,t.revision+=1)}}var ja=class extends x{#e=Da();#t=!1;#n=null;#r=!1;#i=!1;#a=null;#o=``;#s=null;#c;#l=()=>{};#u;#d=y(this,e=>this.#p(e),{intervalMs:()=>this.#f()?6e4:he});connectedCallback(){super.connectedCallback(),this.#c=setInterval(()=>this.requestUpdate(),1e3),this.#l=this.context.feed.subscribe(e=>{(e?.some(({taskId:e})=>e===this.route.id)??!0)&&this.#d.refresh()}),this.#e=Da(this.route.query.get(`event`)),this.#r=!1,this.#n=new AbortController,this.#m(this.#n.signal)}disconnectedCallback(){super.disconnectedCallback(),clearInterval(this.#c),this.#l(),this.#n?.abort()}get paintGapMs(){return this.#d.value===void 0||this.#i?0:100}#f(){let e=this.#d.value?.task;return e!==void 0&&z(e)&&e.callback?.state!==`pending`}async#p(e){let t=this.#u===void 0;this.#u??=ni(this.context.api,this.route.id);let r=await this.#u(e);return t&&(this.dispatchEvent(new CustomEvent(S,{detail:n(r.task.title??r.task.taskId),bubbles:!0})),this.#i=z(r.task)),r}async#m(e){let t=()=>{this.#t=!0};try{for await(let n of this.context.feed.followTask(this.route.id,{signal:e,onGap:t}))this.#e.add(n),this.#i||this.requestUpdate();let n=this.#d.value?.task;n!==void 0&&!z(n)&&this.#d.refresh()}catch(t){e.aborted||(this.#a=t)}this.#r=!0,this.requestUpdate()}async#h(e,t){this.#s=null,this.#o=await e().then(()=>t,e=>e instanceof r?e.message:String(e)),this.#d.refresh(),this.requestUpdate()}#g(e=``){return`/api/v2/tasks/${encodeURIComponent(this.route.id)}${e}`}#_(e){e===`cancel`?this.#h(()=>this.context.api.call(this.#g(`/cancel`),{method:`POST`}),`Cancellation requested. The task ends when its runtime has stopped.`):this.#h(async()=>{await this.context.api.call(this.#g(),{method:`DELETE`}),A(I(`tasks`))},`Deleted.`)}#v({request:e}){return{mayDispatch:this.#S(),question:this.#s,ask:e=>{this.#s=e,this.requestUpdate()},confirm:e=>this.#_(e),runAgain:()=>this.#y(e,{}),redeliver:()=>{let e=`/api/v2/callbacks/${encodeURIComponent(this.route.id)}/redeliver`;this.#h(()=>this.context.api.call(e,{method:`POST`}),`Redelivery started.`)},copy:(e,t)=>void this.#C(e,t),togglePlainText:()=>{Q.toggle(),this.requestUpdate()}}}#y({message:e,fields:t,isMasked:n},r){if(n){A(I(`new?from=${encodeURIComponent(this.route.id)}`));return}let{taskId:i,...a}=t,o={...a,...e!==void 0&&{message:e},...r};this.#h(async()=>{let{taskId:e}=await this.context.api.call(`/api/v2/dispatch`,{method:`POST`,body:o});A(E(e))},``)}async#b({path:e}){let t=e.split(`/`).map(encodeURIComponent).join(`/`);try{Nt(await this.context.api.download(this.#g(`/files/${t}`)),e.split(`/`).at(-1)??`file`)}catch(e){this.#o=e instanceof r?e.message:String(e),this.requestUpdate()}}render(){let{value:e,error:t}=this.#d;if(t?.status===404)return this.#T();if(e===void 0)return N`<h1>${n(this.route.id)}</h1>${t===null?N`<p role="status">Loading …</p>`:F(t)}`;let{task:r,request:i,children:a}=e,o=b(),s=Xt(r,a),c=this.#w(r);return N`
      ${Gi(r,R(c,o),this.#v(e),o)} ${F(t)}
      ${this.#o===``?k:N`<p class="note info" role="status">${n(this.#o)}</p>`}
      <div class="task-layout">
        <div class="task-main">
          ${Bi(r,{mayDispatch:this.#S(),longerLimit:i.isMasked?null:Ea(r,Number(i.fields.timeoutSeconds)),runAgain:e=>this.#y(i,e)})}
          ${Ma(c,e.ahead,o)} ${s===null?k:gi(s,this.context,o)}
          ${Qi(r,this.#e,{isFolded:s!==null&&s.findings.length>0})} ${ta(i)}
        </div>
        <aside aria-label="Details">${Ri(r,o)}</aside>
      </div>
      ${this.#x(r,a,o)}
      ${e.callback===null?k:ri(e.callback,o)}
      ${Ui(e.files,e=>void this.#b(e))}
      ${r.startedAt===null?k:Pi(r.taskId,this.context)}
    `}#x(e,t,n){return N`<section aria-labelledby="timeline">
      <h2 id="timeline">Timeline</h2>
      ${this.#t?N`<p class="note warning">Earlier events of this task have been deleted.</p>`:k}
      ${this.#a===null||this.#d.error!==null?k:N`<p class="note error" role="alert">The events cannot be read: ${String(this.#a)}</p>`}
      ${this.#i&&!this.#r?N`<p role="status">Loading …</p>`:Sa({timeline:this.#e,task:e,childTasks:t,shown:Zi(e),context:this.context,now:n})}
    </section>`}#S(){return this.context.identity.scopes.includes(`dispatch`)}async#C(e,t){this.#o=await mr(e)??`Copied the ${t}.`,this.requestUpdate()}#w(e){let{lastEventAt:t}=this.#e;return t!==null&&t>(e.lastProgressAt??``)?{...e,lastProgressAt:t,waitingOn:e.waitingOn===`runtime`?null:e.waitingOn}:e}#T(){return N`<h1>${n(this.route.id)}</h1>
      <p class="note warning">
        There is no such task. It never existed, belongs to another tenant, was deleted, or ended longer ago than Bridge keeps tasks
        (<code>BRIDGE_RETENTION_DAYS</code>).
      </p>
      <p><a href=${I(`tasks`)}>All tasks</a></p>`}};function Ma(e,t,n){switch(R(e,n)){case`queued`:return N`<p class="note info">
        The task ${te(e)||`is queued`}. Your tasks for this adapter that were queued before it: ${t??`?`}.
      </p>`;case`approval`:return N`<p class="note warning">A tool call waits for your decision, in the timeline.</p>`;case`silent`:{let t=e.lastProgressAt??e.startedAt;return N`<p class="note warning">No event for ${t===null?`?`:p(n-Date.parse(t))}.</p>`}default:return k}}customElements.define(`bridge-task`,ja);
/**
* @license
* Copyright 2018 Google LLC
* SPDX-License-Identifier: BSD-3-Clause
*/const Na=T(class extends _{constructor(t){if(super(t),t.type!==e.ATTRIBUTE||t.name!==`class`||t.strings?.length>2)throw Error("`classMap()` can only be used in the `class` attribute and must be the only part in the attribute.")}render(e){return` `+Object.keys(e).filter(t=>e[t]).join(` `)+` `}update(e,[t]){if(this.st===void 0){this.st=/* @__PURE__ */ new Set,e.strings!==void 0&&(this.nt=new Set(e.strings.join(` `).split(/\s/).filter(e=>e!==``)));for(let e in t)t[e]&&!this.nt?.has(e)&&this.st.add(e);return this.render(t)}let n=e.element.classList;for(let e of this.st)e in t||(n.remove(e),this.st.delete(e));for(let e in t){let r=!!t[e];r===this.st.has(e)||this.nt?.has(e)||(r?(n.add(e),this.st.add(e)):(n.remove(e),this.st.delete(e)))}return L}});function Pa(e,t,n){let r=new Set(t),i=[...e].filter(([e])=>!r.has(e)).map(([,e])=>e),a=n&&2*i.length>=e.size?i:[],o=Math.max(-1,...e.values())+1,s=()=>(o+=1,o-1);return new Map(t.map(t=>[t,e.get(t)??a.shift()??s()]))}function Fa(){let e=/* @__PURE__ */ new Map,t=[],n=/* @__PURE__ */ new Map,r=null,i=[],a=0,o=[];function s(){let e=a;return o.push(e),e}function c(e){o.splice(o.indexOf(e),1);for(let{number:t,event:n}of i)t>=e&&l(n);let t=Math.min(...o,a);i=i.filter(({number:e})=>e>=t)}function l(t){let n=e.get(t.taskId);n!==void 0&&e.set(t.taskId,La(n,t))}function u(){return r??=Ia(t,n),r}return{list:(t,n)=>u().slice(t,n).map(({id:t})=>e.get(t)),levelAt:e=>u()[e]?.level??0,get length(){return u().length},get opened(){return[...n.keys()]},isOpen:e=>n.has(e),showChildren(t,i,a){for(let t of a)e.set(t.taskId,t);n.set(i,a.map(e=>e.taskId)),r=null,c(t)},hideChildren(e){n.delete(e),r=null},begin:s,abandon:c,applyFirst(i,a,o){let s=new Set(a.map(({taskId:e})=>e)),l=a.at(-1)?.createdAt??``,u=o?t.filter(t=>!s.has(t)&&(e.get(t)?.createdAt??``)<=l):[],d=new Set(u),f=new Set([...n.values()].flat());for(let n of t)s.has(n)||d.has(n)||f.has(n)||e.delete(n);for(let t of a)e.set(t.taskId,t);t=[...s,...u];for(let t of n.keys())e.has(t)||n.delete(t);r=null,c(i)},append(n,i){let a=new Set(t);t=[...t,...i.filter(({taskId:e})=>!a.has(e)).map(({taskId:e})=>e)];for(let t of i)e.set(t.taskId,t);r=null,c(n)},patch(t){let n=!1;for(let r of t)o.length>0&&i.push({number:a,event:r}),a+=1,n||=!e.has(r.taskId),l(r);return n}}}function Ia(e,t){let n=[],r=new Set([...t.values()].flat()),i=(e,r)=>{n.push({id:e,level:r});for(let n of t.get(e)??[])i(n,r+1)};for(let t of e)r.has(t)||i(t,0);return n}function La(e,{type:t,timestamp:n,errorCode:r}){let i=e.state===`queued`||e.state===`running`;switch(t){case`execution.started`:return e.state===`queued`?{...e,state:`running`,startedAt:n,lastProgressAt:n,waitingOn:null,queuedBecause:null}:e;case`execution.completed`:return i?{...e,state:`completed`,finishedAt:n,waitingOn:null,queuedBecause:null}:e;case`execution.failed`:return i?{...e,state:r===`cancelled`?`cancelled`:`failed`,errorCode:r,finishedAt:n,waitingOn:null,queuedBecause:null}:e;case`tool.approval_requested`:return e.state===`running`?{...e,waitingOn:`approval`,lastProgressAt:n}:e;case`tool.approval_resolved`:return e.state===`running`?{...e,waitingOn:null,lastProgressAt:n}:e;case`callback.delivered`:return e.callback===null?e:{...e,callback:{...e.callback,state:`delivered`}};case`callback.dead`:return e.callback===null?e:{...e,callback:{...e.callback,state:`dead`}};default:return e}}function Ra(){return Object.entries(Nr).map(([e,{name:t}])=>[e,t])}const za=[{name:`errorCode`,label:`Error code`,values:null,example:`timeout`},{name:`callback`,label:`Callback`,values:[`pending`,`delivered`,`dead`]},{name:`waitingOn`,label:`Waits for`,values:[[`approval`,`an approval`]]},{name:`children`,label:`Child tasks`,values:[[`all`,`as separate rows`]],none:`in the row of their parent`},{name:`parentTaskId`,label:`Parent task`,values:null,example:`id`},{name:`idPrefix`,label:`Id starts with`,values:null},{name:`q`,label:`Title contains`,values:null},{name:`createdAfter`,label:`Created after`,values:`time`},{name:`createdBefore`,label:`Created before`,values:`time`},{name:`finished`,label:`Ended`,values:Ra()},{name:`finishedAfter`,label:`Ended after`,values:`time`},{name:`finishedBefore`,label:`Ended before`,values:`time`}];var Ba=class extends c{static properties={context:{attribute:!1},query:{attribute:!1},inRow:{attribute:!1},onQuery:{attribute:!1}};#e=``;#t=null;#n;disconnectedCallback(){super.disconnectedCallback(),clearTimeout(this.#n)}willUpdate(e){if(!e.has(`query`))return;let t=this.query.get(`search`)??``;t!==this.#e.trim()&&(clearTimeout(this.#n),this.#e=t)}focus(){this.querySelector(`input[type=search]`)?.focus()}#r(e){this.#e=e.target.value,clearTimeout(this.#n),this.#n=setTimeout(()=>this.#i(`search`,this.#e.trim()),200)}#i(e,t){let n=new URLSearchParams(this.query);clearTimeout(this.#n),this.#e.trim()===``?n.delete(`search`):n.set(`search`,this.#e.trim()),t===``?n.delete(e):n.set(e,t),Z(n)!==Z(this.query)&&this.onQuery(n)}async#a(){if(this.#t!==null)return;this.#t=[];let e=await this.context.api.list(`/api/v2/agents`,{limit:200}).catch(()=>null);this.#t=e?.data.map(({agentId:e})=>e)??null,this.requestUpdate()}#o(){return[{name:`state`,label:`State`,values:[`queued`,`running`,`completed`,`failed`,[`cancelled`,`canceled`]]},{name:`provider`,label:`Adapter`,values:this.context.attention.state.adapters.map(({provider:e})=>e)},{name:`agentId`,label:`Agent`,values:null,list:`filter-agents`},{name:`label`,label:`Label`,values:null,example:`name=value`},{name:`created`,label:`Created`,values:Ra()}]}render(){let e=this.#o(),t=[...e.slice(this.inRow),...za];return N`<search class="task-filters">
      <label class="search-box"
        >${P(Fe)}<span class="visually-hidden">Search</span>
        <input
          type="search" .value=${this.#e} maxlength=${200} placeholder="Search by id, title, agent or label" spellcheck="false"
          autocomplete="off" @input=${this.#r}
        /></label>
      ${e.slice(0,this.inRow).map(e=>this.#c(e,!0))}
      ${this.#s(t)}
      ${Z(this.query)===``?k:N`<a class="button plain clear" href=${I(`tasks`)}>Clear</a>`}
      <datalist id="filter-agents">${(this.#t??[]).map(e=>N`<option value=${e}></option>`)}</datalist>
    </search>`}#s(e){let t=e.filter(({name:e})=>this.query.has(e)).length;return N`<details class="menu" @focusout=${e=>{let t=e.currentTarget;t.contains(e.relatedTarget)||(t.open=!1)}} @keydown=${e=>{if(e.key!==`Escape`)return;let t=e.currentTarget;t.open=!1,t.querySelector(`summary`)?.focus()}}>
      <summary>${P(ke)} ${this.inRow===0?`Filters`:`More filters`} ${t===0?k:N`<span class="count">${t}</span>`}</summary>
      <div class="filter-panel" tabindex="-1">${e.map(e=>this.#c(e,!1))}</div>
    </details>`}#c({name:e,label:t,values:n,none:r=`any`,example:i,list:a},o){let s=this.query.get(e)??``,c=t=>this.#i(e,t.target.value.trim()),l=o?k:N`<span>${t}</span>`,u=s===``?``:`used`;if(n===`time`)return N`<label>${l} <input type="datetime-local" aria-label=${t} class=${u} .value=${ee(s)} @change=${t=>this.#i(e,v(t.target.value))} /></label>`;if(n===null)return N`<label
        >${l}
        <input
          aria-label=${t} class=${u} .value=${s} @change=${c} @focus=${a===void 0?k:()=>this.#a()}
          list=${a??k} placeholder=${o?t:i??k} title=${i??k}
          spellcheck="false" autocomplete="off"
      /></label>`;let d=n.map(e=>typeof e==`string`?[e,e]:e),f=s===``||d.some(([e])=>e===s);return N`<label
      >${l}
      <select aria-label=${t} class=${u} @change=${c}>
        <option value="" ?selected=${s===``}>${o?t:r}</option>
        ${(f?d:[...d,[s,s]]).map(([e,t])=>N`<option value=${e} ?selected=${e===s}>${t}</option>`)}
      </select></label
    >`}};customElements.define(`bridge-task-filters`,Ba);const Va=[{name:`Select`,kind:`select`},{name:`State`,kind:`state`},{name:`Task`,kind:`name`},{name:`Id`,kind:`id`},{name:`Agent`,kind:`agent`},{name:`Adapter`,kind:`provider`},{name:`Started`,kind:`started number`},{name:`Duration`,kind:`duration number`},{name:`Last event`,kind:`last number`},{name:`Cost`,kind:`cost number`},{name:`Callback`,kind:`delivery`}],Ha=(e,r,{isListedAlone:i,children:a})=>N`
  <span role="cell" class="state">${D(R(e,r))}</span>
  <span role="cell" class="name"
    ><a href=${E(e.taskId)} title=${e.title===null?e.taskId:Qt(e)===null?k:e.title}
      ><span class="lead"><span class="title">${n(Ua(e))}</span><span class="detail">${ie(e)}</span></span>
      ${e.title===null?k:N`<span class="detail own-id">${e.taskId}</span>`}</a
    >${Ga(e,i)}${a}${Ka(e)}</span
  >
  <span role="cell" class="id" title=${e.taskId}>${Wa(e.taskId)}</span>
  <span role="cell" class="agent" title=${e.agentId}>${e.agentId}</span>
  <span role="cell" class="provider" title=${e.provider}>${e.provider}</span>
  <span role="cell" class="started number">${M(e.startedAt??e.createdAt,r)}</span>
  <span role="cell" class="duration number">${qa(e,r)}</span>
  <span role="cell" class="last number">${M(e.lastProgressAt,r)}</span>
  <span role="cell" class="cost number">${z(e)?t(e.costUsd):k}</span>
  <span role="cell" class="delivery" title=${e.callback===null?k:`Callback: ${e.callback.state}`}
    >${e.callback===null?k:N`${P(Ie)}<span class="visually-hidden">callback</span> `}${re(e.callback)}</span
  >
`;function Ua(e){let t=Qt(e);return t===null?e.title??e.taskId:`${t.role} · round ${t.round}`}function Wa(e){if(e.length<=16)return e;let t=/^[\da-f]{8}-[\da-f-]{27}$/.test(e)?8:15;return N`${e.slice(0,t)}<span class="rest">${e.slice(t)}</span>`}function Ga({parentTaskId:e},t){return e===null||!t?k:N`<a class="chip parent" href=${E(e)}>↳ of ${e}</a>`}function Ka({labels:e}){let t=Object.entries(e);if(t.length===0)return k;let r=t.map(([e,t])=>`${e}=${t}`);return N`<span class="labels"
    >${r.map(e=>N`<a class="chip" href=${I(`tasks?${new URLSearchParams({label:e})}`)}>${n(e)}</a>`)}</span
  >`}function qa({startedAt:e,finishedAt:t,state:n},r){if(e===null||t===null&&n!==`running`)return k;let i=Date.parse(e);return g(t===null?r-i:Date.parse(t)-i)}var Ja=class extends c{static properties={context:{attribute:!1},query:{attribute:!1}};#e=!1;#t=()=>{};connectedCallback(){super.connectedCallback(),this.#t=this.context.attention.subscribe(()=>this.requestUpdate())}disconnectedCallback(){super.disconnectedCallback(),this.#t()}#n(){return kr(localStorage,this.context.identity.tenant)}#r(e){this.#e=e,this.requestUpdate(),this.updateComplete.then(()=>this.querySelector(e?`.view-name`:`.save-view, [aria-current]`)?.focus())}#i(e){e.preventDefault();let t=this.querySelector(`.view-name`)?.value.trim()??``;t!==``&&(this.#n().save({name:t,query:Z(this.query)}),this.#r(!1))}#a(e){this.#n().remove(e),this.#r(!1)}render(){let e=Z(this.query),t=this.#n().list(),n=Ya(this.context.attention.state),r=![...Or,...t].some(t=>t.query===e);return N`<div class="views">
      <nav class="tabs" aria-label="Views">
        ${[...Or,...t].map(t=>Xa(t,e,n[t.query]??0))}
      </nav>
      ${this.#e?this.#o():r?N`<button class="plain save-view" @click=${()=>this.#r(!0)}>${P(ye)} Save this view</button>`:t.filter(t=>t.query===e).map(({name:e})=>N`<button class="plain" @click=${()=>this.#a(e)}>${P(Le)} Remove this view</button>`)}
    </div>`}#o(){return N`<form class="name-view" @submit=${this.#i} @keydown=${e=>{e.key===`Escape`&&this.#r(!1)}}>
      <input class="view-name" aria-label="Name of the view" placeholder="Name of the view" maxlength=${40} autocomplete="off" required />
      <button class="primary" type="submit">Save</button>
      <button type="button" class="plain" @click=${()=>this.#r(!1)}>Cancel</button>
    </form>`}};const Ya=({approvals:e,faults:t})=>({"waitingOn=approval":new Set(e.map(({taskId:e})=>e)).size,"callback=dead":t.counts.callback}),Xa=(e,t,n)=>N`<a
  class="tab" href=${I(e.query===``?`tasks`:`tasks?${e.query}`)} aria-current=${e.query===t?`true`:k}
  >${e.name}${n===0?k:N` <span class="count" title="${n} to deal with">${n}</span>`}</a
>`;customElements.define(`bridge-task-views`,Ja);const Za={from:1e3,width:280},Qa={without:540,filter:128},$a=matchMedia(`(max-width: 760px)`);var eo=class extends x{#e=Fa();#t=!1;#n=!1;#r=null;#i={first:0,last:0};#a=/* @__PURE__ */ new Map;#o=/* @__PURE__ */ new Set;#s=-1;#c=!1;#l=``;#u=null;#d;#f;#p=()=>{};#m=0;#h=!1;#g=y(this,e=>this.#S(e));#_=!1;#v=()=>{this.#_=!0,this.requestUpdate()};get paintGapMs(){return this.#_?0:100}connectedCallback(){super.connectedCallback(),addEventListener(`scroll`,this.#v,{passive:!0}),addEventListener(`resize`,this.#v),this.#f=setInterval(()=>this.#y(),1e3),this.#p=this.context.feed.subscribe(e=>{if(e===null)return this.#g.refresh();this.#e.patch(e)&&(this.#d??=setTimeout(()=>this.#b(),500)),this.requestUpdate()})}disconnectedCallback(){super.disconnectedCallback(),removeEventListener(`scroll`,this.#v),removeEventListener(`resize`,this.#v),clearTimeout(this.#d),clearInterval(this.#f),this.#p()}#y(){let{first:e,last:t}=this.#i;this.#e.list(e,t).some(({state:e})=>e===`running`)&&this.requestUpdate()}willUpdate(e){let t=e.get(`route`);t!==void 0&&t.query.toString()!==this.route.query.toString()&&(this.#e=Fa(),this.#m+=1,this.#h=!1,this.#r=null,this.#t=!1,this.#o.clear(),this.#s=-1,this.#g.refresh())}#b(){this.#d=void 0,this.#g.refresh()}#x(){return Lr(this.route.query,b())}async#S(e){let t=this.#e,n=this.#m,r=t.begin();try{let i=await this.context.api.list(`/api/v2/tasks`,{...this.#x(),limit:100},{signal:e}),a=t.length===0;return t.applyFirst(r,i.data,i.meta.nextCursor!==null),await Promise.all(t.opened.map(t=>this.#C(t,e))),this.#h||=n===this.#m,n===this.#m&&(a||this.#r===null||t.length<=i.data.length)&&(this.#r=i.meta.nextCursor,this.#t=i.meta.nextCursor!==null),!0}catch(e){throw t.abandon(r),e}}async#C(e,t){let n=this.#e,r=n.begin(),i={pages:5,pageLength:200,signal:t};try{let{data:t}=await On(this.context.api,`/api/v2/tasks`,{parentTaskId:e},i);n.showChildren(r,e,t.toReversed())}catch(e){throw n.abandon(r),e}}#w(e){this.#e.isOpen(e)?this.#e.hideChildren(e):this.#C(e,new AbortController().signal).catch(e=>{this.#u=e instanceof r?e:null}).finally(()=>this.requestUpdate()),this.requestUpdate()}async#T(){if(this.#n||this.#r===null)return;this.#n=!0;let e=this.#e,t=e.begin();try{let n={...this.#x(),limit:200,cursor:this.#r},r=await this.context.api.list(`/api/v2/tasks`,n);e.append(t,r.data),e===this.#e&&(this.#r=r.meta.nextCursor,this.#t=this.#r!==null)}catch(n){e.abandon(t),this.#u=n instanceof r?n:null}finally{this.#n=!1,this.requestUpdate()}}#E=e=>{let t=e.toString();A(I(t===``?`tasks`:`tasks?${t}`),{replace:!0})};onKey(e){let{length:t}=this.#e;if(e===`/`)return this.querySelector(`bridge-task-filters`)?.focus(),!0;if((e===`j`||e===`k`)&&t>0)return this.#s=Math.min(t-1,Math.max(0,this.#s+(e===`j`?1:-1))),this.#D(),!0;let[n]=this.#e.list(this.#s,this.#s+1);return e===`x`&&n!==void 0&&(this.#O(n.taskId),!0)}async#D(){let e=this.querySelector(`.window`);if(e===null)return;let t=no(),n=e.getBoundingClientRect().top+this.#s*t;n<0?scrollBy(0,n-t):n+t>innerHeight&&scrollBy(0,n+2*t-innerHeight),this.requestUpdate(),await this.updateComplete,this.querySelector(`[data-index="${this.#s}"] a`)?.focus({preventScroll:!0})}#O(e){this.#o.delete(e)||this.#o.add(e),this.#c=!1,this.requestUpdate()}async#k(){let e=[...this.#o];this.#c=!1,this.#l=`Canceling ${e.length} …`,this.requestUpdate();let t=[],n=async()=>{for(let n=e.pop();n!==void 0;n=e.pop()){let e=`/api/v2/tasks/${encodeURIComponent(n)}/cancel`,r=n;await this.context.api.call(e,{method:`POST`}).catch(e=>t.push(`${r}: ${String(e)}`))}},r=e.length;await Promise.all(Array.from({length:4},n)),this.#o.clear(),this.#l=t.length===0?`Cancellation requested for ${r} tasks.`:t.join(`; `),this.#g.refresh(),this.requestUpdate()}updated(){this.#_=!1;let e=this.querySelector(`.window`),t=this.querySelector(`.visible`);if(e===null||t===null)return;let n=`${this.#e.length*no()}px`;e.style.height!==n&&(e.style.height=n),t.style.transform=`translateY(${this.#i.first*no()}px)`,this.#A(),this.#t&&this.#i.last+60>this.#e.length&&this.#T()}#A(){let e=this.querySelector(`[role=table]`),[t,n]=[`name`,`id`].map(e=>this.querySelector(`.heading > .${e}`)?.getBoundingClientRect().width??0);if(e===null||t===void 0||n===void 0)return;let r=this.querySelector(`.id-probe`)?.getBoundingClientRect().width??0,i=t+n-r>=220;e.classList.toggle(`with-ids`,i),e.style.setProperty(`--id-track`,i?`${r}px`:``)}#j(){let e=this.querySelector(`.window`)?.getBoundingClientRect().top??0,t=Math.max(0,Math.floor(-e/no())-4);return{first:t,last:Math.min(this.#e.length,t+Math.ceil(innerHeight/no())+8)}}render(){let e=b();this.#i=this.#j();let{first:t,last:n}=this.#i,r=this.#e.list(t,n);return this.#M(r),this.#a=Pa(this.#a,r.map(({taskId:e})=>e),this.#_),N`
      <h1>Tasks</h1>
      <bridge-task-views .context=${this.context} .query=${this.route.query}></bridge-task-views>
      <bridge-task-filters
        .context=${this.context} .query=${this.route.query} .inRow=${to()} .onQuery=${this.#E}
      ></bridge-task-filters>
      ${F(this.#g.error??this.#u)} ${this.#F()}
      ${this.#e.length===0?this.#L():k}
      <div role="table" aria-label="Tasks" aria-rowcount=${this.#t?-1:this.#e.length+1} ?hidden=${this.#e.length===0}>
        <div role="rowgroup">
          <div role="row" class="task-row heading" aria-rowindex="1">
            ${Va.map(({name:e,kind:t})=>N`<span role="columnheader" class=${t}>${e}</span>`)}
          </div>
        </div>
        <span class="id-probe" aria-hidden="true"></span>
        <div role="rowgroup" class="window" @click=${Fn}>
          <div class="visible" role="presentation">
            ${B(r,({taskId:e})=>this.#a.get(e),(n,r)=>this.#N(n,t+r,e))}
          </div>
        </div>
      </div>
      ${this.#t?N`<p class="hint">${this.#e.length} tasks loaded. Scroll down for more.</p>`:k}
    `}#M(e){let t=document.activeElement,n=t?.closest(`.visible > .task-row`);n!=null&&!e.some(({taskId:e})=>e===n.dataset.task)&&t.blur()}#N(e,t,n){let r=this.#e.levelAt(t);return N`<div role="row" class="task-row ${Na({child:r>0,deep:r>1})}" aria-rowindex=${t+2} data-index=${t} data-task=${e.taskId}>
      <span role="cell" class="select"
        ><label
          ><input
            type="checkbox" aria-label="Select ${e.taskId}" .checked=${gr(this.#o.has(e.taskId))}
            ?disabled=${z(e)} @change=${()=>this.#O(e.taskId)} /></label
      ></span>
      ${Ha(e,n,{isListedAlone:r===0,children:this.#P(e)})}
    </div>`}#P({taskId:e,provider:t,childCount:r,title:i}){if(r===0||r===void 0)return k;let a=this.context.attention.state.adapters.find(e=>e.provider===t),o=Sr(a)?`answer`:`subtask`,s=this.#e.isOpen(e);return N`<button class="disclosure" aria-expanded=${s} @click=${()=>this.#w(e)}>
      <span aria-hidden="true">${s?`▾`:`▸`}</span> ${r} <span class="word">${o}${r===1?``:`s`}</span>
      <span class="visually-hidden">of ${n(i??e)}</span>
    </button>`}#F(){let e=this.#o.size,t=this.#l===``?k:N`<p class="note info" role="status">${n(this.#l)}</p>`;if(e===0||!this.context.identity.scopes.includes(`dispatch`))return t;let r=N`<button class="danger" @click=${()=>this.#I(!0)}>Cancel ${e} ${e===1?`task`:`tasks`}</button>`,i=N`<span>Cancel ${e} and all of their child tasks?</span>
      <button class="danger" @click=${()=>this.#k()}>Yes, cancel</button>
      <button @click=${()=>this.#I(!1)}>No</button>`;return N`<div class="selection">${this.#c?i:r}</div>
      ${t}`}#I(e){this.#c=e,this.requestUpdate()}#L(){if(!this.#h||this.#t)return this.#g.error===null?N`<p role="status">Loading …</p>`:k;let{query:e}=this.route;if(Z(e)===``)return zt(Oe,`No tasks yet.`,N`<a class="button" href=${I(`new`)}>Dispatch one</a>`);let t=new URLSearchParams([...e,[`children`,`all`]]);return zt(Pe,`No task matches.`,N`<a class="button" href=${I(`tasks`)}>Clear the filters</a>
        ${Ir(e)?k:N`<a class="button" href=${I(`tasks?${t}`)}>Search child tasks, too</a>`}`)}};function to(){let e=innerWidth-(innerWidth<Za.from?0:Za.width)-Qa.without;return $a.matches?0:Math.max(0,Math.min(5,Math.floor(e/Qa.filter)))}const no=()=>$a.matches?82:36;customElements.define(`bridge-tasks`,eo);var ro=class extends c{static properties={context:{attribute:!1},commands:{attribute:!1}};#e=``;#t=[];#n=0;#r=!1;#i;#a=null;open(){this.#e=``,this.#t=[],this.#n=0,this.#r=!0,this.requestUpdate(),this.updateComplete.then(()=>this.querySelector(`dialog`)?.showModal())}disconnectedCallback(){super.disconnectedCallback(),clearTimeout(this.#i),this.#a?.abort()}#o(){let e=this.#e.toLowerCase().split(/\s+/),t=this.commands.filter(({name:t,kind:n})=>e.every(e=>`${n} ${t}`.toLowerCase().includes(e))),n=this.#t.map(e=>({name:e.title??e.taskId,kind:`task`,task:e,run:()=>A(E(e.taskId))}));return this.#e===``?t:[...t.slice(0,8),...n]}#s(e){this.#e=e.target.value.trim(),this.#n=0,clearTimeout(this.#i),this.#i=setTimeout(()=>void this.#c(),150),this.requestUpdate()}async#c(){this.#a?.abort(),this.#a=new AbortController;let{signal:e}=this.#a;if(this.#e===``)this.#t=[];else{let t=await this.#l(e).catch(()=>[]);if(e.aborted)return;this.#t=t}this.requestUpdate()}async#l(e){let t={search:this.#e,limit:8},n=await this.context.api.list(`/api/v2/tasks`,t,{signal:e}),r=n.meta.nextCursor;if(r===null||n.data.length===8)return n.data;let i=await this.context.api.list(`/api/v2/tasks`,{...t,cursor:r},{signal:e});return[...n.data,...i.data].slice(0,8)}#u(e){let t=this.#o();if(e.key===`ArrowDown`||e.key===`ArrowUp`){let n=e.key===`ArrowDown`?1:t.length-1;this.#n=t.length===0?0:(this.#n+n)%t.length,this.requestUpdate()}else if(e.key===`Enter`)this.#d(t[this.#n]);else return;e.preventDefault()}#d(e){e!==void 0&&(this.querySelector(`dialog`)?.close(),e.run())}updated(){this.querySelector(`[aria-selected=true]`)?.scrollIntoView({block:`nearest`})}render(){let e=this.#r?this.#o():[];return N`<dialog class="command-menu" aria-label="Search or jump to" @click=${this.#m} @close=${this.#p}>
      ${this.#r?this.#f(e):k}
    </dialog>`}#f(e){return N`
      <input
        type="search" role="combobox" aria-label="Search or jump to" aria-expanded="true"
        aria-controls="command-choices" aria-activedescendant=${e.length===0?k:`choice-${this.#n}`}
        placeholder="Page, action, or task by id, title, agent or label" autocomplete="off" spellcheck="false"
        .value=${this.#e} @input=${this.#s} @keydown=${this.#u}
      />
      <ul id="command-choices" role="listbox" aria-label="Matches">
        ${e.map((e,t)=>N`<li
            id="choice-${t}" role="option" aria-selected=${t===this.#n} @click=${()=>this.#d(e)}
          >${io(e)}</li>`)}
      </ul>
      ${e.length===0?N`<p class="empty" role="status">Nothing matches.</p>`:k}`}#p(){this.#r=!1,this.requestUpdate()}#m(e){e.target instanceof HTMLDialogElement&&e.target.close()}};const io=({name:e,kind:t,task:r})=>r===void 0?N`<span class="choice-name">${n(e)}</span> <span class="detail">${t}</span>`:N`${D(R(r,b()))} <span class="choice-name" title=${e}>${n(e)}</span>
        <span class="detail">${r.taskId} · ${r.agentId}</span>`;customElements.define(`bridge-command-menu`,ro);function ao({api:e,feed:t}){let n=/* @__PURE__ */ new Set,i=new AbortController,a={approvals:[],hasMoreApprovals:!1,faults:{data:[],counts:{approval:0,failure:0,callback:0,delivery:0,adapter:0},receivers:[]},faultsAt:0,adapters:[],error:null,isLoaded:!1},o,s,c=!1,l=!1;async function u(){if(c){l=!0;return}c=!0,l=!1;let{signal:t}=i;try{let n=b(),[r,i,o]=await Promise.all([oo(e,t),e.call(`/api/v2/attention?limit=5`,{signal:t}),e.list(`/api/v2/adapters`,{limit:200},{signal:t})]);a={approvals:r.approvals,hasMoreApprovals:r.hasMore,faults:i,faultsAt:n,adapters:o.data,error:null,isLoaded:!0}}catch(e){if(t.aborted)return;a={...a,error:e instanceof r?e:new r(0,`unexpected`,String(e))}}finally{c=!1}t.aborted||(d(),f(l?0:document.hidden?2e4:5e3))}function d(){let e=b();a={...a,approvals:a.approvals.filter(t=>!ne(t,e))};for(let e of n)e();clearTimeout(s);let t=Math.min(...a.approvals.map(({expiresAt:e})=>e===null?1/0:Date.parse(e)));t!==1/0&&(s=setTimeout(()=>{d(),f(100)},t-e))}function f(e){clearTimeout(o),o=setTimeout(()=>void u(),e)}let p=t.subscribe(e=>{(e?.some(({type:e})=>e!==`execution.started`&&e!==`execution.completed`)??!0)&&f(100)}),m=()=>{document.hidden||f(0)};return document.addEventListener(`visibilitychange`,m),u(),{get state(){return a},subscribe(e){return n.add(e),()=>void n.delete(e)},refresh:()=>f(0),close(){i.abort(),clearTimeout(o),clearTimeout(s),p(),n.clear(),document.removeEventListener(`visibilitychange`,m)}}}async function oo(e,t){let n=[],r;for(let i=0;i<10;i+=1){let i={state:`pending`,order:`oldest`,limit:200-n.length,cursor:r},{data:a,meta:o}=await e.list(`/api/v2/approvals`,i,{signal:t});if(n.push(...a),o.nextCursor===null)return{approvals:n,hasMore:!1};if(n.length===200)break;r=o.nextCursor}return{approvals:n,hasMore:!0}}const so=[`execution.started`,`execution.completed`,`execution.failed`,`tool.approval_requested`,`tool.approval_resolved`,`callback.delivered`,`callback.dead`];function co(e,t){let n=_t({url:a,token:e,retryDelayMs:150,patienceMs:2**53-1,parseJson:i}),r=/* @__PURE__ */ new Set,o=null,s=null,c,l=[],u,d,f=e=>{for(let t of r)t(e)};function p(e){f(e),s?.postMessage({events:e,lastId:c})}function m(){u=void 0;let e=l;l=[],p(e)}async function h(e){let t=()=>p(null),r=c===void 0?{signal:e,onGap:t}:{signal:e,onGap:t,after:c};for await(let e of n.events({types:so},r))c=e.id,l.push(uo(e)),u??=setTimeout(m,50)}async function g(t){let{signal:n}=t;try{let t=await lo(e);if(n.throwIfAborted(),t===null)return await h(n);s=new BroadcastChannel(t),s.onmessage=({data:e})=>{c=e.lastId,f(e.events)},await navigator.locks.request(t,{signal:n},()=>h(n))}catch(e){if(n.aborted)return;if(e instanceof V&&e.status===401)return await _(t);console.error(`The event stream failed.`,e)}}async function _(e){s?.close(),s=null;let n=await t();await new Promise(e=>setTimeout(e,150)),n&&!e.signal.aborted&&await g(e)}function v(){o===null&&(o=new AbortController,g(o))}function y(){o?.abort(),o=null,s?.close(),s=null}function b(){clearTimeout(d),document.hidden?d=setTimeout(y,6e4):o===null&&(v(),f(null))}return document.addEventListener(`visibilitychange`,b),v(),{subscribe(e){return r.add(e),()=>void r.delete(e)},followTask:(e,t)=>n.events(e,t),close(){document.removeEventListener(`visibilitychange`,b),clearTimeout(d),clearTimeout(u),r.clear(),y()}}}async function lo(e){if(!isSecureContext)return null;let t=await crypto.subtle.digest(`SHA-256`,new TextEncoder().encode(`bridge stream ${e}`));return`bridge-${Array.from(new Uint8Array(t),e=>e.toString(16).padStart(2,`0`)).join(``)}`}function uo({type:e,taskId:t,agentId:n,provider:r,timestamp:i,data:a}){let{errorCode:o=null,approvalId:s=null}=a;return{type:e,taskId:t,agentId:n,provider:r,timestamp:i,errorCode:o,approvalId:s}}function fo(){let{hash:e,pathname:t,search:n}=location;return e.startsWith(`#t=`)?(history.replaceState(history.state,``,t+n),e.slice(3)):null}async function po(e){let t={method:`POST`,body:{ticket:e}};return(await me(null,()=>{}).call(`/api/v2/sessions`,t)).token}const $=`bridge.token`,mo=`Bridge no longer accepts this token. It has expired or was revoked. Sign in with another one.`;async function ho(e){let[t,{version:n}]=await Promise.all([e.call(`/api/v2/me`),e.call(`/`)]);return{identity:t,version:n}}function go(e){let t={kind:`signed-out`,reason:null},n=()=>{},i=0,a=n=>{t=n,e()};function o(){return n(),n=()=>{},i+=1,i}function s(e){o(),sessionStorage.removeItem($),localStorage.removeItem($),a({kind:`signed-out`,reason:e})}async function c(e,{isNew:t}){let n=o(),c=t?`Bridge does not know this token. Copy the whole token: the file data/token contains it, unless the operator configured tokens.`:mo;a({kind:`checking`});let u=async()=>!await yo(e)||(i===n&&s(c),!1),d=me(e,()=>void u());for(;i===n;)try{let t=await ho(d);c=mo,i===n&&l({...t,api:d,token:e},u);return}catch(e){if(i!==n)return;e instanceof r&&e.status===401||a({kind:`unreachable`,detail:Co(e)}),await new Promise(e=>setTimeout(e,1e3))}}function l(e,t){let{parts:r,close:i}=_o(e,t);n=i,a({kind:`signed-in`,context:{...e,...r}})}function u(e,t={isNew:!1}){sessionStorage.setItem($,e),c(e,t)}async function d(e){let t=o();a({kind:`checking`});let r=So();try{let o=await po(e),s=()=>vo(me(o,()=>{})),[c,l]=await Promise.all([bo(o),r===null?null:bo(r)]);if(i!==t)return s();if(c===null||l===null||xo(c,l))return u(o);n=s,a({kind:`confirming`,present:l,offered:c,accept:()=>{n=()=>{},u(o)},decline:f})}catch(e){if(i!==t)return;if(r!==null)return f();a({kind:`signed-out`,reason:Co(e)})}}function f(){let e=So();e===null?a({kind:`signed-out`,reason:null}):c(e,{isNew:!1})}function p(){let e=fo();return e!==null&&d(e),e!==null}return{get state(){return t},resume(){p()||f()},followLink:p,signIn(e,{remember:t}){t&&localStorage.setItem($,e),u(e,{isNew:!0})},signOut(){t.kind===`signed-in`&&t.context.token.startsWith(`ses_`)&&vo(t.context.api),s(null)}}}function _o({token:e,api:t},n){let r=co(e,n),i=ao({api:t,feed:r});return{parts:{feed:r,attention:i},close(){i.close(),r.close()}}}function vo(e){e.call(`/api/v2/sessions/current`,{method:`DELETE`}).catch(()=>{})}const yo=e=>bo(e).then(e=>e===null,()=>!1);async function bo(e){try{return await me(e,()=>{}).call(`/api/v2/me`)}catch(e){if(e instanceof r&&e.status===401)return null;throw e}}const xo=(e,t)=>e.name===t.name&&e.tenant===t.tenant,So=()=>sessionStorage.getItem($)??localStorage.getItem($),Co=e=>e instanceof r?e.message:String(e),wo={overview:`Overview`,tasks:`Tasks`,task:`Task`,new:`New task`,approvals:`Approvals`,callbacks:`Callbacks`,webhooks:`Webhooks`,adapters:`Adapters`,usage:`Usage`,missing:`Not found`},To={new:()=>import(`./new-BnRCe6ko.js`),callbacks:()=>import(`./callbacks-DvQ86oIr.js`),webhooks:()=>import(`./webhooks-BmKjBrpQ.js`),adapters:()=>import(`./adapters-CVgFK8V6.js`),usage:()=>import(`./usage-C4IZS9Uf.js`)},Eo=[{page:`overview`,path:``,sign:De},{page:`tasks`,path:`tasks`,sign:Oe},{page:`approvals`,path:`approvals`,sign:Ce},{page:`callbacks`,path:`callbacks`,sign:Ie},{page:`webhooks`,path:`webhooks`,sign:ve},{page:`adapters`,path:`adapters`,sign:Me},{page:`usage`,path:`usage`,sign:be}];var Do=class extends c{#e=go(()=>this.#s());#t=Ht();#n=fe();#r=this.#n.id;#i=null;#a=()=>{};#o=!1;connectedCallback(){super.connectedCallback(),addEventListener(`popstate`,()=>this.#l()),addEventListener(`hashchange`,()=>this.#e.followLink()),this.addEventListener(S,e=>{this.#r=e.detail,this.#c()}),addEventListener(`click`,e=>this.#u(e)),addEventListener(`keydown`,e=>this.#d(e)),this.#e.resume()}#s(){let{state:e}=this.#e;this.#a(),this.#t.reset(),this.#a=e.kind===`signed-in`?e.context.attention.subscribe(()=>this.#c()):()=>{},e.kind===`signed-in`?this.#c():this.#t.update(`Sign in`,{approvals:[],hasMoreApprovals:!1}),this.requestUpdate()}#c(){let{state:e}=this.#e;if(e.kind!==`signed-in`)return;let t=this.#n.page===`task`?this.#r:wo[this.#n.page];this.#t.update(t,e.context.attention.state),this.requestUpdate()}#l(){this.#e.followLink();let e=this.#n;this.#n=fe(),this.#o=!1,e.id!==this.#n.id&&(this.#r=this.#n.id),this.#c(),(e.page!==this.#n.page||e.id!==this.#n.id)&&(scrollTo(0,0),this.updateComplete.then(()=>this.querySelector(`main`)?.focus({preventScroll:!0})))}#u(e){let t=ce(e);t!==null&&this.#e.state.kind===`signed-in`&&(e.preventDefault(),A(t))}#d(e){if(e.key===`k`&&(e.ctrlKey||e.metaKey)&&document.querySelector(`dialog[open]`)===null){e.preventDefault(),this.#p();return}if(e.ctrlKey||e.metaKey||e.altKey||Ao(e))return;let t=this.querySelector(`dialog.help`);e.key===`?`&&t!==null?(e.preventDefault(),t.open?t.close():t.showModal()):document.querySelector(`dialog[open]`)===null&&this.querySelector(`[data-page]`)?.onKey(e.key,e)===!0&&e.preventDefault()}render(){let{state:e}=this.#e;switch(e.kind){case`signed-out`:return N`<bridge-sign-in
          .reason=${e.reason}
          .onSignIn=${(e,t)=>this.#e.signIn(e,t)}
        ></bridge-sign-in>`;case`checking`:return N`<main class="sign-in"><p role="status">Signing in …</p></main>`;case`unreachable`:return N`<main class="sign-in">
          <h1>Bridge</h1>
          <p class="note error" role="alert">${n(e.detail)}</p>
          <p role="status">Trying again …</p>
          <button @click=${()=>this.#e.signOut()}>Sign out</button>
        </main>`;case`confirming`:return Oo(e);case`signed-in`:return this.#f(e.context)}}#f(e){let{identity:t,version:n,attention:r}=e,{page:i,id:a}=this.#n;return N`
      <a class="skip" href="#main" @click=${e=>this.#S(e)}>Skip to the content</a>
      <header class="shell">
        <a class="brand" href=${I(``)}>${Vt} Bridge</a>
        <a class="button primary new" href=${I(`new`)} aria-current=${i===`new`?`page`:k}
          >${P(Ne)}<span>New task</span></a
        >
        <button class="find" @click=${()=>this.#p()} aria-keyshortcuts="Control+K Meta+K">
          ${P(Fe)}<span>Search</span><kbd aria-hidden="true">Ctrl K</kbd>
        </button>
        ${ko(r.state.error)?N`<span class="connection lost" role="status">reconnecting …</span>`:N`<span class="connection" role="status">live</span>`}
        ${this.#h(e)}
        <div id="navigation" class=${this.#o?`open`:``} @keydown=${this.#_} @focusout=${this.#v}>
        <nav aria-label="Pages">${Eo.map(t=>this.#y(t,e))}</nav>
        <div class="who">
          <dl>
            <div><dt>Token</dt><dd>${t.name}</dd></div>
            <div><dt>Tenant</dt><dd>${t.tenant}</dd></div>
            <div><dt>Version</dt><dd>${n}</dd></div>
          </dl>
          <button class="plain" title="${t.name}, tenant ${t.tenant}" @click=${()=>this.#e.signOut()}>${P(Ae)} Sign out</button>
        </div>
        </div>
      </header>
      <main id="main" tabindex="-1">${_e(`${i}/${a}`,this.#x(e))}</main>
      <bridge-command-menu .context=${e} .commands=${this.#m(e)}></bridge-command-menu>
      ${Mo(i)}
    `}#p(){this.querySelector(`bridge-command-menu`)?.open()}#m({attention:e}){let t=(e,t,n=`page`)=>({name:e,kind:n,run:()=>A(I(t))});return[...Eo.map(({page:e,path:n})=>t(wo[e],n)),t(`New task`,`new`,`action`),...Or.slice(1).map(e=>t(e.name,`tasks?${e.query}`,`view of tasks`)),t(`Failed tasks`,`tasks?state=failed`,`view`),{name:`Show the keys`,kind:`action`,run:()=>this.querySelector(`dialog.help`)?.showModal()},{name:`Sign out`,kind:`action`,run:()=>this.#e.signOut()},...e.state.adapters.map(({provider:e})=>t(e,`tasks?provider=${encodeURIComponent(e)}`,`tasks of adapter`))]}#h({attention:e}){let{approvals:t,hasMoreApprovals:n,faults:r}=e.state,i=l(t.length+r.counts.callback+r.counts.delivery,n);return N`<button
      class="pages" aria-expanded=${this.#o} aria-controls="navigation"
      @click=${()=>this.#g(!this.#o)} @keydown=${this.#_}
      >${P(je)}<span class="visually-hidden">Pages</span>${i===`0`?k:N` <span class="count">${i}<span class="visually-hidden"> to look at</span></span>`}</button
    >`}#g(e){this.#o=e,this.requestUpdate();let t=e?`#navigation a`:`button.pages`;this.updateComplete.then(()=>this.querySelector(t)?.focus())}#_=e=>{e.key===`Escape`&&this.#o&&this.#g(!1)};#v=e=>{let t=e.relatedTarget;this.#o&&t!==null&&t.closest(`#navigation, button.pages`)===null&&(this.#o=!1,this.requestUpdate())};#y({page:e,path:t,sign:n},{attention:r}){let{approvals:i,hasMoreApprovals:a,faults:o}=r.state,s={approvals:l(i.length,a),callbacks:String(o.counts.callback),webhooks:String(o.counts.delivery)}[e]??`0`,c=this.#n.page===e||this.#n.page===`task`&&e===`tasks`;return N`<a href=${I(t)} aria-current=${c?`page`:k}
      >${P(n)} ${wo[e]}${s===`0`?k:N` <span class="count">${s}</span>`}</a
    >`}async#b(e){try{await To[e]?.()}catch{this.#i=e}this.requestUpdate()}#x(e){let t=this.#n;if(this.#i===t.page)return N`<h1>${wo[t.page]}</h1>
        <p class="note error" role="alert">Bridge did not answer, or it was upgraded. <button @click=${()=>location.reload()}>Load again</button></p>`;if(To[t.page]!==void 0&&customElements.get(`bridge-${t.page}`)===void 0)return this.#b(t.page),N`<p role="status">Loading …</p>`;switch(t.page){case`overview`:return N`<bridge-overview data-page .context=${e} .route=${t}></bridge-overview>`;case`new`:return N`<bridge-new data-page .context=${e} .route=${t}></bridge-new>`;case`approvals`:return N`<bridge-approvals data-page .context=${e} .route=${t}></bridge-approvals>`;case`callbacks`:return N`<bridge-callbacks data-page .context=${e} .route=${t}></bridge-callbacks>`;case`webhooks`:return N`<bridge-webhooks data-page .context=${e} .route=${t}></bridge-webhooks>`;case`adapters`:return N`<bridge-adapters data-page .context=${e} .route=${t}></bridge-adapters>`;case`usage`:return N`<bridge-usage data-page .context=${e} .route=${t}></bridge-usage>`;case`tasks`:return N`<bridge-tasks data-page .context=${e} .route=${t}></bridge-tasks>`;case`task`:return N`<bridge-task data-page .context=${e} .route=${t}></bridge-task>`;default:return N`<h1>Not found</h1>
          <p>The console has no such page. <a href=${I(``)}>Overview</a></p>`}}#S(e){e.preventDefault(),this.querySelector(`#main`)?.focus()}};const Oo=({present:e,offered:t,accept:n,decline:r})=>N`
  <main class="sign-in">
    <h1>Bridge</h1>
    <p role="alert">
      You are signed in as ${e.name} (tenant ${e.tenant}). Sign in as ${t.name} (tenant ${t.tenant})?
    </p>
    <p class="hint">Continue only if you created this link or expected it.</p>
    <button class="primary" @click=${r}>Stay signed in as ${e.name}</button>
    <button @click=${n}>Sign in as ${t.name}</button>
  </main>
`,ko=e=>e!==null&&(e.status===0||e.status>=500);function Ao(e){let[t]=e.composedPath();return t instanceof HTMLElement&&t.matches(`input:not([type=checkbox]), textarea, select, [contenteditable]`)}const jo=[[`Ctrl-K`,`search or jump to`],[`/`,`search or filter`,`tasks`],[`/`,`go to the first field`,`new`],[`j, k`,`next or previous row`,`overview`,`tasks`,`callbacks`,`webhooks`,`usage`],[`j, k`,`next or previous tool call`,`approvals`],[`Enter`,`open the row`,`overview`,`tasks`,`callbacks`,`webhooks`,`usage`],[`x`,`select the row`,`tasks`],[`a a, r r`,`approve or reject the selected tool call`,`approvals`],[`Ctrl-Enter`,`dispatch the task from its message`,`new`],[`?`,`this help`]],Mo=e=>N`
  <dialog class="help" aria-labelledby="help-title">
    <h2 id="help-title">Keys</h2>
    <dl>${jo.filter(([,,...t])=>t.length===0||t.includes(e)).map(([e,t])=>N`<dt><kbd>${e}</kbd></dt><dd>${t}</dd>`)}</dl>
    <form method="dialog" @submit=${No}><button>Close</button></form>
  </dialog>
`;function No(e){e.preventDefault(),e.target.closest(`dialog`)?.close()}customElements.define(`bridge-app`,Do);export{ve as A,Pn as C,B as D,zt as E,Ie as O,pr as S,On as T,dr as _,Kr as a,fr as b,zr as c,wr as d,Cr as f,ir as g,hr as h,Ti as i,Se as k,Hr as l,X as m,Fi as n,Rr as o,Sr as p,Ii as r,Ur as s,Ta as t,Vr as u,rr as v,An as w,cr as x,ur as y};