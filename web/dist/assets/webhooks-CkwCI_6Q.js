import{B as e,C as t,S as n,T as r,U as i,a,et as o,f as s,l as c,nt as l,p as u,r as d,u as f}from"./shared-NBIuJExs.js";import{C as p,E as m,O as h,S as g,T as _,n as v,w as y}from"./console-DOV3v_Md.js";
/**
* @license lucide v1.65.0 - ISC
*
* This source code is licensed under the ISC license.
* See the LICENSE file in the root directory of this source tree.
*/
const b=[[`polyline`,{points:`22 12 16 12 14 15 10 15 8 12 2 12`}],[`path`,{d:`M5.45 5.11 2 12v6a2 2 0 0 0 2 2h16a2 2 0 0 0 2-2v-6l-3.45-6.89A2 2 0 0 0 16.76 4H7.24a2 2 0 0 0-1.79 1.11z`}]],x=[`dead`,`pending`,`delivered`];var S=class extends i{#e=``;#t=null;#n=1;#r=-1;#i=null;#a=n(this,async e=>{let{data:t}=await this.context.api.list(`/api/v2/webhooks`,{limit:100},{signal:e}),n=/* @__PURE__ */ new Map;return await Promise.all(t.slice(0,20).map(async({name:t})=>{let r=`/api/v2/webhooks/${encodeURIComponent(t)}/deliveries`,[i]=(await this.context.api.list(r,{limit:1},{signal:e})).data;i!==void 0&&n.set(t,i)})),{data:t,last:n}});#o=n(this,e=>this.#l(e));#s(){this.#a.refresh(),this.#o.refresh()}#c(){let{query:e}=this.route;return{name:e.get(`name`)??``,state:x.find(t=>t===e.get(`state`))??`dead`}}async#l(e){let{name:t,state:n}=this.#c(),r=JSON.stringify({name:t,state:n});if(r!==this.#i&&(this.#n=1),this.#i=r,t===``)return null;let i=`/api/v2/webhooks/${encodeURIComponent(t)}/deliveries`,a={pages:this.#n,pageLength:100,signal:e};return{...await y(this.context.api,i,{state:n},a),name:t,state:n}}updated(){this.#i!==null&&this.#i!==JSON.stringify(this.#c())&&this.#o.refresh()}#u(e){let{name:t,state:n}=this.#c();return e?.name===t?e.state===n:t===``}onKey(e){if(e!==`j`&&e!==`k`)return!1;let t=this.querySelectorAll(`.webhook a, .delivery button`);return this.#r=Math.min(t.length-1,Math.max(0,this.#r+(e===`j`?1:-1))),t[this.#r]?.focus(),!0}#d(e,t){let n=`/api/v2/webhooks/${encodeURIComponent(e)}/deliveries/${encodeURIComponent(t)}/redeliver`;return this.#h(async()=>(await this.context.api.call(n,{method:`POST`}),`Redelivery started.`))}#f(e){return this.#t=null,this.#h(async()=>{let t=await p(this.context.api,{kind:`delivery`,receiver:e});return`Redelivery of ${g(`delivery`,t)} started.`})}#p(e){this.#t=e,this.requestUpdate()}#m(){this.#n+=1,this.#o.refresh()}async#h(e){this.#e=await e().catch(e=>e instanceof t?e.message:String(e)),this.context.attention.refresh(),this.#s(),this.requestUpdate()}render(){let{value:t,error:n}=this.#a;return l`
      <h1>Webhooks</h1>
      ${u(n)} ${this.#e===``?o:l`<p class="note info" role="status">${e(this.#e)}</p>`}
      ${t===void 0?n===null?l`<p role="status">Loading …</p>`:o:this.#g(t.data)}
      ${this.#c().name===``?o:this.#v()}
    `}#g(e){if(e.length===0)return E();let{name:t}=this.#c(),n=r();return l`<ul class="rows">
      ${e.map(({name:e,origin:r,types:i,filter:a,pending:s,dead:c})=>l`<li class="webhook ${e===t?`selected`:``}">
          <span>
            <a href=${d(`webhooks?name=${encodeURIComponent(e)}`)} aria-current=${e===t?`true`:o}>${e}</a>
            ${r}
          </span>
          ${w(`pending`,s)} ${w(`dead`,c)}
          <span class="detail">${i.join(`, `)}${T(a)}</span>
          ${this.#_(e,n)}
        </li>`)}
    </ul>`}#_(e,t){let n=this.#a.value?.last.get(e);return n===void 0?l`<span class="detail last">No delivery yet.</span>`:l`<span class="detail last">Last delivery ${f(n.updatedAt,t)}: ${n.state}, ${v(n,t)}</span>`}#v(){let{name:t,state:n}=this.#c(),{value:r,error:i}=this.#o,a=e=>d(`webhooks?name=${encodeURIComponent(t)}&state=${e}`);return l`<section aria-labelledby="deliveries">
      <h2 id="deliveries">Deliveries to ${e(t)}</h2>
      <p class="tabs">
        ${x.map(e=>l`<a class="tab" href=${a(e)} aria-current=${e===n?`page`:o}>${e}</a>`)}
      </p>
      ${u(i)} ${n===`dead`?this.#b(t):o}
      ${this.#u(r)&&r?this.#y(r):i===null?l`<p role="status">Loading …</p>`:o}
    </section>`}#y({name:e,state:t,data:n,meta:i}){if(n.length===0)return _(b,`No delivery is ${t}.`,C(t));let a=r();return l`<ul class="rows">
        ${m(n,({deliveryId:e})=>e,t=>this.#x(e,t,a))}
      </ul>
      ${i.nextCursor===null?o:l`<button class="plain" @click=${this.#m}>Show ${100} more</button>`}`}#b(t){let n=this.#a.value?.data.find(e=>e.name===t)?.dead??0;return n===0||!this.context.identity.scopes.includes(`dispatch`)?o:this.#t===t?l`<p class="actions">
      <span role="status">Redeliver ${g(`delivery`,n)} to ${e(t)}?</span>
      <button @click=${()=>this.#f(t)}>Yes, redeliver</button>
      <button @click=${()=>this.#p(null)}>No</button>
    </p>`:l`<p class="actions"><button @click=${()=>this.#p(t)}>Redeliver all dead</button></p>`}#x(e,t,n){let{deliveryId:r,type:i,taskId:u,state:d,updatedAt:f}=t,p=d===`dead`&&this.context.identity.scopes.includes(`dispatch`);return l`<li class="delivery">
      ${s(t)} <code>${i}</code> ${u===null?o:l`<a href=${a(u)}>${u}</a>`}
      <span class="detail">${v(t,n)}</span>
      ${c(f,n)}
      ${p?l`<button @click=${()=>this.#d(e,r)} aria-label="Redeliver ${i}${u===null?``:` of ${u}`}">
              Redeliver
            </button>`:o}
    </li>`}};const C=e=>e===`dead`?`Deliveries appear here when no retries are left.`:e===`pending`?`Deliveries appear here until the receiver accepts them.`:`Deliveries appear here when the receiver has accepted them.`,w=(e,t)=>l`<span class="badge ${t===0?``:`callback-${e}`}">${t} ${e}</span>`;function T({agentId:e,provider:t,labels:n={}}){let r=Object.entries({agent:e,adapter:t,...n}).filter(([,e])=>e!==void 0);return r.length===0?``:` · ${r.map(([e,t])=>`${e}=${t}`).join(`, `)}`}const E=()=>l`
  ${_(h,`Your tenant has no webhooks.`,l`A webhook notifies another system of approvals, ends of tasks and dead callbacks. The operator lists webhooks in the file that
      <code>BRIDGE_WEBHOOKS_FILE</code> names, as docs/webhooks.md describes:`)}
  <pre tabindex="0"><code>[
  {
    "name": "oncall",
    "url": "https://notify.example.com/bridge",
    "secrets": ["whsec_&lt;24 to 64 random bytes in base64&gt;"],
    "tenant": "default"
  }
]</code></pre>
`;customElements.define(`bridge-webhooks`,S);