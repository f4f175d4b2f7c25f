import{B as e,S as t,T as n,U as r,a as i,et as a,f as o,l as s,nt as c,p as l,r as u,u as d}from"./shared-NBIuJExs.js";import{E as f,O as p,S as m,T as h,n as g,w as _}from"./console-DGgwP4jc.js";
/**
* @license lucide v1.65.0 - ISC
*
* This source code is licensed under the ISC license.
* See the LICENSE file in the root directory of this source tree.
*/
const v=[[`polyline`,{points:`22 12 16 12 14 15 10 15 8 12 2 12`}],[`path`,{d:`M5.45 5.11 2 12v6a2 2 0 0 0 2 2h16a2 2 0 0 0 2-2v-6l-3.45-6.89A2 2 0 0 0 16.76 4H7.24a2 2 0 0 0-1.79 1.11z`}]],y=1e4,b=[`dead`,`pending`,`delivered`];var x=class extends r{#e=null;#t=1;#n=-1;#r=null;#i=t(this,async e=>{let{data:t}=await this.context.api.list(`/api/v2/webhooks`,{limit:100},{signal:e}),n=/* @__PURE__ */ new Map;return await Promise.all(t.slice(0,20).map(async({name:t})=>{let r=`/api/v2/webhooks/${encodeURIComponent(t)}/deliveries`,[i]=(await this.context.api.list(r,{limit:1},{signal:e})).data;i!==void 0&&n.set(t,i)})),{data:t,last:n}});#a=t(this,e=>this.#c(e));#o(){this.#i.refresh(),this.#a.refresh()}#s(){let{query:e}=this.route;return{name:e.get(`name`)??``,state:b.find(t=>t===e.get(`state`))??`dead`}}async#c(e){let{name:t,state:n}=this.#s(),r=JSON.stringify({name:t,state:n});if(r!==this.#r&&(this.#t=1),this.#r=r,t===``)return null;let i=`/api/v2/webhooks/${encodeURIComponent(t)}/deliveries`,a={pages:this.#t,pageLength:100,signal:e};return{...await _(this.context.api,i,{state:n},a),name:t,state:n}}updated(){this.#r!==null&&this.#r!==JSON.stringify(this.#s())&&this.#a.refresh()}#l(e){let{name:t,state:n}=this.#s();return e?.name===t?e.state===n:t===``}onKey(e){if(e!==`j`&&e!==`k`)return!1;let t=this.querySelectorAll(`.webhook a, .delivery button`);return this.#n=Math.min(t.length-1,Math.max(0,this.#n+(e===`j`?1:-1))),t[this.#n]?.focus(),!0}#u(e,t){this.#d(null);let n={kind:`delivery`,receiver:e,...t!==void 0&&{id:t}};this.querySelector(`bridge-redelivery`)?.start(n)}#d(e){this.#e=e,this.requestUpdate()}#f(){this.#t+=1,this.#a.refresh()}render(){let{value:e,error:t}=this.#i;return c`
      <h1>Webhooks</h1>
      ${l(t)} <bridge-redelivery .context=${this.context} .onChange=${()=>this.#o()}></bridge-redelivery>
      ${e===void 0?t===null?c`<p role="status">Loading …</p>`:a:this.#p(e.data)}
      ${this.#s().name===``?a:this.#h()}
    `}#p(e){if(e.length===0)return T();let{name:t}=this.#s(),r=n();return c`<ul class="rows">
      ${e.map(({name:e,origin:n,types:i,filter:o,pending:s,dead:l})=>c`<li class="webhook ${e===t?`selected`:``}">
          <span>
            <a href=${u(`webhooks?name=${encodeURIComponent(e)}`)} aria-current=${e===t?`true`:a}>${e}</a>
            ${n}
          </span>
          ${C(`pending`,s)} ${C(`dead`,l)}
          <span class="detail">${i.join(`, `)}${w(o)}</span>
          ${this.#m(e,r)}
        </li>`)}
    </ul>`}#m(e,t){let n=this.#i.value?.last.get(e);return n===void 0?c`<span class="detail last">No delivery yet.</span>`:c`<span class="detail last">Last delivery ${d(n.updatedAt,t)}: ${n.state}, ${g(n,t)}</span>`}#h(){let{name:t,state:n}=this.#s(),{value:r,error:i}=this.#a,o=e=>u(`webhooks?name=${encodeURIComponent(t)}&state=${e}`);return c`<section aria-labelledby="deliveries">
      <h2 id="deliveries">Deliveries to ${e(t)}</h2>
      <p class="tabs">
        ${b.map(e=>c`<a class="tab" href=${o(e)} aria-current=${e===n?`page`:a}>${e}</a>`)}
      </p>
      ${l(i)} ${n===`dead`?this.#_(t):a}
      ${this.#l(r)&&r?this.#g(r):i===null?c`<p role="status">Loading …</p>`:a}
    </section>`}#g({name:e,state:t,data:r,meta:i}){if(r.length===0)return h(v,`No delivery is ${t}.`,S(t));let o=n();return c`<ul class="rows">
        ${f(r,({deliveryId:e})=>e,t=>this.#v(e,t,o))}
      </ul>
      ${i.nextCursor===null?a:c`<button class="plain" @click=${this.#f}>Show ${100} more</button>`}`}#_(t){let n=this.#i.value?.data.find(e=>e.name===t)?.dead??0;return n===0||!this.context.identity.scopes.includes(`dispatch`)?a:this.#e===t?c`<p class="actions">
      <span role="status">Redeliver ${m(`delivery`,n,y)} to ${e(t)}?</span>
      <button @click=${()=>this.#u(t)}>Yes, redeliver</button>
      <button @click=${()=>this.#d(null)}>No</button>
    </p>`:c`<p class="actions"><button @click=${()=>this.#d(t)}>Redeliver all dead</button></p>`}#v(e,t,n){let{deliveryId:r,type:l,taskId:u,state:d,updatedAt:f}=t,p=d===`dead`&&this.context.identity.scopes.includes(`dispatch`);return c`<li class="delivery">
      ${o(t)} <code>${l}</code> ${u===null?a:c`<a href=${i(u)}>${u}</a>`}
      <span class="detail">${g(t,n)}</span>
      ${s(f,n)}
      ${p?c`<button @click=${()=>this.#u(e,r)} aria-label="Redeliver ${l}${u===null?``:` of ${u}`}">
              Redeliver
            </button>`:a}
    </li>`}};const S=e=>e===`dead`?`Deliveries appear here when no retries are left.`:e===`pending`?`Deliveries appear here until the receiver accepts them.`:`Deliveries appear here when the receiver has accepted them.`,C=(e,t)=>c`<span class="badge ${t===0?``:`callback-${e}`}">${t>=y?`at least `:``}${t} ${e}</span>`;function w({agentId:e,provider:t,labels:n={}}){let r=Object.entries({agent:e,adapter:t,...n}).filter(([,e])=>e!==void 0);return r.length===0?``:` · ${r.map(([e,t])=>`${e}=${t}`).join(`, `)}`}const T=()=>c`
  ${h(p,`Your tenant has no webhooks.`,c`A webhook notifies another system of approvals, ends of tasks and dead callbacks. The operator lists webhooks in the file that
      <code>BRIDGE_WEBHOOKS_FILE</code> names, as docs/webhooks.md describes:`)}
  <pre tabindex="0"><code>[
  {
    "name": "oncall",
    "url": "https://notify.example.com/bridge",
    "secrets": ["whsec_&lt;24 to 64 random bytes in base64&gt;"],
    "tenant": "default"
  }
]</code></pre>
`;customElements.define(`bridge-webhooks`,x);