import{I as e,Q as t,S as n,X as r,b as i,c as a,d as o,f as s,i as c,o as l,t as u,z as d}from"./shared-Cc4RnNdl.js";import{C as f,E as p,S as m,T as h,n as g}from"./console-Dbg5I0TD.js";const _=[`dead`,`pending`,`delivered`];var v=class extends d{#e=``;#t=null;#n=1;#r=-1;#i=null;#a=h(this,async e=>(await this.context.api.list(`/api/v2/webhooks`,{limit:100},{signal:e})).data);#o=h(this,e=>this.#l(e));#s(){this.#a.refresh(),this.#o.refresh()}#c(){let{query:e}=this.route;return{name:e.get(`name`)??``,state:_.find(t=>t===e.get(`state`))??`dead`}}async#l(e){let{name:t,state:n}=this.#c(),r=JSON.stringify({name:t,state:n});if(r!==this.#i&&(this.#n=1),this.#i=r,t===``)return null;let i=`/api/v2/webhooks/${encodeURIComponent(t)}/deliveries`,a={pages:this.#n,pageLength:100,signal:e};return{...await u(this.context.api,i,{state:n},a),name:t,state:n}}updated(){this.#i!==null&&this.#i!==JSON.stringify(this.#c())&&this.#o.refresh()}#u(e){let{name:t,state:n}=this.#c();return e?.name===t?e.state===n:t===``}onKey(e){if(e!==`j`&&e!==`k`)return!1;let t=this.querySelectorAll(`.webhook a, .delivery button`);return this.#r=Math.min(t.length-1,Math.max(0,this.#r+(e===`j`?1:-1))),t[this.#r]?.focus(),!0}#d(e,t){let n=`/api/v2/webhooks/${encodeURIComponent(e)}/deliveries/${encodeURIComponent(t)}/redeliver`;return this.#h(async()=>(await this.context.api.call(n,{method:`POST`}),`Redelivery started.`))}#f(e){return this.#t=null,this.#h(async()=>{let t=await f(this.context.api,{kind:`delivery`,receiver:e});return`Redelivery of ${m(`delivery`,t)} started.`})}#p(e){this.#t=e,this.requestUpdate()}#m(){this.#n+=1,this.#o.refresh()}async#h(e){this.#e=await e().catch(e=>e instanceof i?e.message:String(e)),this.context.attention.refresh(),this.#s(),this.requestUpdate()}render(){let{value:n,error:i}=this.#a;return t`
      <h1>Webhooks</h1>
      ${s(i)} ${this.#e===``?r:t`<p class="note info" role="status">${e(this.#e)}</p>`}
      ${n===void 0?i===null?t`<p role="status">Loading …</p>`:r:this.#g(n)}
      ${this.#c().name===``?r:this.#_()}
    `}#g(e){if(e.length===0)return x();let{name:n}=this.#c();return t`<ul class="rows">
      ${e.map(({name:e,origin:i,types:a,filter:o,pending:s,dead:l})=>t`<li class="webhook">
          <a href=${c(`webhooks?name=${encodeURIComponent(e)}`)} aria-current=${e===n?`true`:r}>${e}</a>
          <span>${i}</span>
          <span class="detail">${a.join(`, `)}${b(o)}</span>
          ${y(`pending`,s)} ${y(`dead`,l)}
        </li>`)}
    </ul>`}#_(){let{name:n,state:i}=this.#c(),{value:a,error:o}=this.#o,l=e=>c(`webhooks?name=${encodeURIComponent(n)}&state=${e}`);return t`<section aria-labelledby="deliveries">
      <h2 id="deliveries">Deliveries to ${e(n)}</h2>
      <p class="tabs">
        ${_.map(e=>t`<a class="tab" href=${l(e)} aria-current=${e===i?`page`:r}>${e}</a>`)}
      </p>
      ${s(o)} ${i===`dead`?this.#y(n):r}
      ${this.#u(a)&&a?this.#v(a):o===null?t`<p role="status">Loading …</p>`:r}
    </section>`}#v({name:e,state:i,data:a,meta:o}){if(a.length===0)return t`<p class="empty">No delivery is ${i}.</p>`;let s=n();return t`<ul class="rows">
        ${p(a,({deliveryId:e})=>e,t=>this.#b(e,t,s))}
      </ul>
      ${o.nextCursor===null?r:t`<button class="plain" @click=${this.#m}>Show ${100} more</button>`}`}#y(n){let i=this.#a.value?.find(e=>e.name===n)?.dead??0;return i===0||!this.context.identity.scopes.includes(`dispatch`)?r:this.#t===n?t`<p class="actions">
      <span role="status">Redeliver ${m(`delivery`,i)} to ${e(n)}?</span>
      <button @click=${()=>this.#f(n)}>Yes, redeliver</button>
      <button @click=${()=>this.#p(null)}>No</button>
    </p>`:t`<p class="actions"><button @click=${()=>this.#p(n)}>Redeliver all dead</button></p>`}#b(e,n,i){let{deliveryId:s,type:c,taskId:u,state:d,updatedAt:f}=n,p=d===`dead`&&this.context.identity.scopes.includes(`dispatch`);return t`<li class="delivery">
      ${o(n)} <code>${c}</code> ${u===null?r:t`<a href=${l(u)}>${u}</a>`}
      <span class="detail">${g(n,i)}</span>
      ${a(f,i)}
      ${p?t`<button @click=${()=>this.#d(e,s)} aria-label="Redeliver ${c}${u===null?``:` of ${u}`}">
              Redeliver
            </button>`:r}
    </li>`}};const y=(e,n)=>t`<span class="badge ${n===0?``:`callback-${e}`}">${n} ${e}</span>`;function b({agentId:e,provider:t,labels:n={}}){let r=Object.entries({agent:e,adapter:t,...n}).filter(([,e])=>e!==void 0);return r.length===0?``:` · ${r.map(([e,t])=>`${e}=${t}`).join(`, `)}`}const x=()=>t`
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
`;customElements.define(`bridge-webhooks`,v);