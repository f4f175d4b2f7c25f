import{B as e,F as t,S as n,T as r,U as i,a,et as o,f as s,h as c,i as l,l as u,nt as d,o as f,p,r as m,u as h}from"./shared-C71ngRhu.js";import{A as g,C as _,D as v,E as y,T as b,k as x,n as S,r as C}from"./console-Ds4iPE9S.js";
/**
* @license lucide v1.65.0 - ISC
*
* This source code is licensed under the ISC license.
* See the LICENSE file in the root directory of this source tree.
*/
const w=[[`polyline`,{points:`22 12 16 12 14 15 10 15 8 12 2 12`}],[`path`,{d:`M5.45 5.11 2 12v6a2 2 0 0 0 2 2h16a2 2 0 0 0 2-2v-6l-3.45-6.89A2 2 0 0 0 16.76 4H7.24a2 2 0 0 0-1.79 1.11z`}]],T=[`State`,`Event`,`Task`,`Result`,`Attempts`,`When`];function E(e,t){let n=t.onRedeliver!==null&&e.some(({state:e})=>e===`dead`);return d`<div class="scroll usage-table" role="region" aria-label="Table of deliveries" tabindex="0">
    <table class="deliveries">
      <thead>
        <tr>
          ${T.map(e=>d`<th scope="col" class=${e.toLowerCase()}>${e}</th>`)}${n?d`<td></td>`:o}
        </tr>
      </thead>
      <tbody>
        ${v(e,({deliveryId:e})=>e,e=>D(e,t,n))}
      </tbody>
    </table>
  </div>`}function D(e,{now:t,open:n,onToggle:r,onRedeliver:i},c){let{deliveryId:l,type:p,taskId:m,state:h,attempts:g,updatedAt:_}=e,v=n.has(l),y=i!==null&&h===`dead`,b=({target:e})=>{e instanceof Element&&e.closest(`a, button`)===null&&getSelection()?.isCollapsed!==!1&&r(l)},S=d`<button @click=${()=>i?.(l)} aria-label="Redeliver ${p}${m===null?``:` of ${m}`}">
    Redeliver
  </button>`;return d`<tr class="delivery" @click=${b}>
      <td>${s(e)}</td>
      <td>
        <button class="plain toggle" aria-expanded=${v?`true`:`false`} @click=${()=>r(l)}>${f(x)} ${p}</button>
      </td>
      <td>${m===null?o:d`<a class="detail" href=${a(m)}>${m}</a>`}</td>
      <td class="result">${C(e,t)}</td>
      <td class="attempts">${g}</td>
      <td class="when">${u(_,t)}</td>
      ${c?d`<td>${y?S:o}</td>`:o}
    </tr>
    ${v?d`<tr><td colspan=${T.length+ +!!c}>${O(e,t)}</td></tr>`:o}`}function O(n,r){let{deliveryId:i,taskId:s,attempts:l,lastStatus:u,lastError:f,nextAttemptAt:p,createdAt:m,updatedAt:h}=n,g=[[`Delivery`,i],[`Attempts`,l],[`Last status`,u===null?`no response`:`HTTP ${u}`],[`Last error`,f===null?`none`:e(f)],...p===null?[]:[[`Next attempt`,t(p,r)]],[`Created`,c(m,r)],[`Updated`,c(h,r)]];return d`<dl class="delivery-facts">${g.map(([e,t])=>d`<div><dt>${e}</dt><dd>${t}</dd></div>`)}</dl>
    <p class="hint">
      Bridge stores the result of the last attempt only.
      ${s===null?o:d`<a href=${a(s)}>Open the events of the task</a>`}
    </p>`}const k=1e4,A=[`dead`,`pending`,`delivered`];var j=class extends i{#e=null;#t=1;#n=/* @__PURE__ */ new Set;#r=-1;#i=null;#a=n(this,async e=>{let{data:t}=await this.context.api.list(`/api/v2/webhooks`,{limit:100},{signal:e}),n=/* @__PURE__ */ new Map;return await Promise.all(t.slice(0,20).map(async({name:t})=>{let r=`/api/v2/webhooks/${encodeURIComponent(t)}/deliveries`,[i]=(await this.context.api.list(r,{limit:1},{signal:e})).data;i!==void 0&&n.set(t,i)})),{data:t,last:n}});#o=n(this,e=>this.#l(e));#s(){this.#a.refresh(),this.#o.refresh()}#c(){let{query:e}=this.route;return{name:e.get(`name`)??``,state:A.find(t=>t===e.get(`state`))??`dead`}}async#l(e){let{name:t,state:n}=this.#c(),r=JSON.stringify({name:t,state:n});if(r!==this.#i&&(this.#t=1),this.#i=r,t===``)return null;let i=`/api/v2/webhooks/${encodeURIComponent(t)}/deliveries`,a={pages:this.#t,pageLength:100,signal:e};return{...await b(this.context.api,i,{state:n},a),name:t,state:n}}updated(){this.#u(),this.#i!==null&&this.#i!==JSON.stringify(this.#c())&&this.#o.refresh()}#u(){let e=this.#c().name===``?this.#a.value?.data.find(({dead:e})=>e>0):void 0;e!==void 0&&l(m(`webhooks?name=${encodeURIComponent(e.name)}`),{replace:!0})}#d(e){this.#n.delete(e)||this.#n.add(e),this.requestUpdate()}#f(e){let{name:t,state:n}=this.#c();return e?.name===t?e.state===n:t===``}onKey(e){if(e!==`j`&&e!==`k`)return!1;let t=this.querySelectorAll(`.webhook a, .delivery .toggle`);return this.#r=Math.min(t.length-1,Math.max(0,this.#r+(e===`j`?1:-1))),t[this.#r]?.focus(),!0}#p(e,t){this.#m(null);let n={kind:`delivery`,receiver:e,...t!==void 0&&{id:t}};this.querySelector(`bridge-redelivery`)?.start(n)}#m(e){this.#e=e,this.requestUpdate()}#h(){this.#t+=1,this.#o.refresh()}render(){let{value:e,error:t}=this.#a;return d`
      <h1>Webhooks</h1>
      ${p(t)} <bridge-redelivery .context=${this.context} .onChange=${()=>this.#s()}></bridge-redelivery>
      ${e===void 0?t===null?d`<p role="status">Loading …</p>`:o:this.#g(e.data)}
      ${this.#c().name===``?o:this.#v()}
    `}#g(e){if(e.length===0)return F();let{name:t}=this.#c(),n=r();return d`<ul class="rows">
      ${e.map(({name:e,origin:r,types:i,filter:a,pending:s,dead:c})=>d`<li class="webhook ${e===t?`selected`:``}">
          <span>
            <a href=${m(`webhooks?name=${encodeURIComponent(e)}`)} aria-current=${e===t?`true`:o}>${e}</a>
            ${r}
          </span>
          ${N(`pending`,s)} ${N(`dead`,c)}
          <span class="detail">${i.join(`, `)}${P(a)}</span>
          ${this.#_(e,n)}
        </li>`)}
    </ul>`}#_(e,t){let n=this.#a.value?.last.get(e);return n===void 0?d`<span class="detail last">No delivery yet.</span>`:d`<span class="detail last">Last delivery ${h(n.updatedAt,t)}: ${n.state}, ${S(n,t)}</span>`}#v(){let{name:t,state:n}=this.#c(),{value:r,error:i}=this.#o,a=e=>m(`webhooks?name=${encodeURIComponent(t)}&state=${e}`);return d`<section aria-labelledby="deliveries">
      <h2 id="deliveries">Deliveries to ${e(t)}</h2>
      <p class="tabs">
        ${A.map(e=>d`<a class="tab" href=${a(e)} aria-current=${e===n?`page`:o}>${e}${this.#y(t,e)}</a>`)}
      </p>
      ${p(i)} ${n===`dead`?this.#x(t):o}
      ${this.#f(r)&&r?this.#b(r):i===null?d`<p role="status">Loading …</p>`:o}
    </section>`}#y(e,t){let n=this.#a.value?.data.find(t=>t.name===e);return n===void 0||t===`delivered`?``:` ${n[t]}${n[t]>=k?`+`:``}`}#b({name:e,state:t,data:n,meta:i}){if(n.length===0)return y(w,`No delivery is ${t}.`,M(t));let a=r(),s=this.context.identity.scopes.includes(`dispatch`),c=E(n,{now:a,open:this.#n,onToggle:e=>this.#d(e),onRedeliver:s?t=>this.#p(e,t):null});return d`${c}
      ${i.nextCursor===null?o:d`<button class="plain" @click=${this.#h}>Show ${100} more</button>`}`}#x(t){let n=this.#a.value?.data.find(e=>e.name===t)?.dead??0;return n===0||!this.context.identity.scopes.includes(`dispatch`)?o:this.#e===t?d`<p class="actions">
      <span role="status">Redeliver ${_(`delivery`,n,k)} to ${e(t)}?</span>
      <button @click=${()=>this.#p(t)}>Yes, redeliver</button>
      <button @click=${()=>this.#m(null)}>No</button>
    </p>`:d`<p class="actions"><button @click=${()=>this.#m(t)}>Redeliver all dead</button></p>`}};const M=e=>e===`dead`?`Deliveries appear here when no retries are left.`:e===`pending`?`Deliveries appear here until the receiver accepts them.`:`Deliveries appear here when the receiver has accepted them.`,N=(e,t)=>d`<span class="badge ${t===0?``:`callback-${e}`}">${t>=k?`at least `:``}${t} ${e}</span>`;function P({agentId:e,provider:t,labels:n={}}){let r=Object.entries({agent:e,adapter:t,...n}).filter(([,e])=>e!==void 0);return r.length===0?``:` · ${r.map(([e,t])=>`${e}=${t}`).join(`, `)}`}const F=()=>d`
  ${y(g,`Your tenant has no webhooks.`,d`A webhook notifies another system of approvals, ends of tasks and dead callbacks. The operator lists webhooks in the file that
      <code>BRIDGE_WEBHOOKS_FILE</code> names, as docs/webhooks.md describes:`)}
  <pre tabindex="0"><code>[
  {
    "name": "oncall",
    "url": "https://notify.example.com/bridge",
    "secrets": ["whsec_&lt;24 to 64 random bytes in base64&gt;"],
    "tenant": "default"
  }
]</code></pre>
`;customElements.define(`bridge-webhooks`,j);