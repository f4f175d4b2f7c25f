import{I as e,Q as t,X as n,a as r,d as i,r as a,s as o,u as s,x as c,y as l,z as u}from"./shared-Cl6XpTc0.js";import{C as d,D as f,E as p,S as m,n as h,w as g}from"./console-Bn6dMiTx.js";const _=[`dead`,`pending`,`delivered`];var v=class extends u{#e=``;#t=null;#n=1;#r=-1;#i=null;#a=p(this,async e=>(await this.context.api.list(`/api/v2/webhooks`,{limit:100},{signal:e})).data);#o=p(this,e=>this.#l(e));#s(){this.#a.refresh(),this.#o.refresh()}#c(){let{query:e}=this.route;return{name:e.get(`name`)??``,state:_.find(t=>t===e.get(`state`))??`dead`}}async#l(e){let{name:t,state:n}=this.#c(),r=JSON.stringify({name:t,state:n});if(r!==this.#i&&(this.#n=1),this.#i=r,t===``)return null;let i=`/api/v2/webhooks/${encodeURIComponent(t)}/deliveries`,a={pages:this.#n,pageLength:100,signal:e};return{...await g(this.context.api,i,{state:n},a),name:t,state:n}}updated(){this.#i!==null&&this.#i!==JSON.stringify(this.#c())&&this.#o.refresh()}#u(e){let{name:t,state:n}=this.#c();return e?.name===t?e.state===n:t===``}onKey(e){if(e!==`j`&&e!==`k`)return!1;let t=this.querySelectorAll(`.webhook a, .delivery button`);return this.#r=Math.min(t.length-1,Math.max(0,this.#r+(e===`j`?1:-1))),t[this.#r]?.focus(),!0}#d(e,t){let n=`/api/v2/webhooks/${encodeURIComponent(e)}/deliveries/${encodeURIComponent(t)}/redeliver`;return this.#h(async()=>(await this.context.api.call(n,{method:`POST`}),`Redelivery started.`))}#f(e){return this.#t=null,this.#h(async()=>{let t=await d(this.context.api,{kind:`delivery`,receiver:e});return`Redelivery of ${m(`delivery`,t)} started.`})}#p(e){this.#t=e,this.requestUpdate()}#m(){this.#n+=1,this.#o.refresh()}async#h(e){this.#e=await e().catch(e=>e instanceof l?e.message:String(e)),this.context.attention.refresh(),this.#s(),this.requestUpdate()}render(){let{value:r,error:a}=this.#a;return t`
      <h1>Webhooks</h1>
      ${i(a)} ${this.#e===``?n:t`<p class="note info" role="status">${e(this.#e)}</p>`}
      ${r===void 0?a===null?t`<p role="status">Loading …</p>`:n:this.#g(r)}
      ${this.#c().name===``?n:this.#_()}
    `}#g(e){if(e.length===0)return x();let{name:r}=this.#c();return t`<ul class="rows">
      ${e.map(({name:e,origin:i,types:o,filter:s,pending:c,dead:l})=>t`<li class="webhook">
          <a href=${a(`webhooks?name=${encodeURIComponent(e)}`)} aria-current=${e===r?`true`:n}>${e}</a>
          <span>${i}</span>
          <span class="detail">${o.join(`, `)}${b(s)}</span>
          ${y(`pending`,c)} ${y(`dead`,l)}
        </li>`)}
    </ul>`}#_(){let{name:r,state:o}=this.#c(),{value:s,error:c}=this.#o,l=e=>a(`webhooks?name=${encodeURIComponent(r)}&state=${e}`);return t`<section aria-labelledby="deliveries">
      <h2 id="deliveries">Deliveries to ${e(r)}</h2>
      <p class="tabs">
        ${_.map(e=>t`<a class="tab" href=${l(e)} aria-current=${e===o?`page`:n}>${e}</a>`)}
      </p>
      ${i(c)} ${o===`dead`?this.#y(r):n}
      ${this.#u(s)&&s?this.#v(s):c===null?t`<p role="status">Loading …</p>`:n}
    </section>`}#v({name:e,state:r,data:i,meta:a}){if(i.length===0)return t`<p class="empty">No delivery is ${r}.</p>`;let o=c();return t`<ul class="rows">
        ${f(i,({deliveryId:e})=>e,t=>this.#b(e,t,o))}
      </ul>
      ${a.nextCursor===null?n:t`<button class="plain" @click=${this.#m}>Show ${100} more</button>`}`}#y(r){let i=this.#a.value?.find(e=>e.name===r)?.dead??0;return i===0||!this.context.identity.scopes.includes(`dispatch`)?n:this.#t===r?t`<p class="actions">
      <span role="status">Redeliver ${m(`delivery`,i)} to ${e(r)}?</span>
      <button @click=${()=>this.#f(r)}>Yes, redeliver</button>
      <button @click=${()=>this.#p(null)}>No</button>
    </p>`:t`<p class="actions"><button @click=${()=>this.#p(r)}>Redeliver all dead</button></p>`}#b(e,i,a){let{deliveryId:c,type:l,taskId:u,state:d,updatedAt:f}=i,p=d===`dead`&&this.context.identity.scopes.includes(`dispatch`);return t`<li class="delivery">
      ${s(i)} <code>${l}</code> ${u===null?n:t`<a href=${r(u)}>${u}</a>`}
      <span class="detail">${h(i,a)}</span>
      ${o(f,a)}
      ${p?t`<button @click=${()=>this.#d(e,c)} aria-label="Redeliver ${l}${u===null?``:` of ${u}`}">
              Redeliver
            </button>`:n}
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