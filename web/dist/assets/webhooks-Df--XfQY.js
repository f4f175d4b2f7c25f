import{F as e,R as t,Y as n,Z as r,c as i,d as a,f as o,i as s,o as c,t as l,x as u,y as d}from"./shared-oU8rKXRd.js";import{C as f,S as p,b as m,t as h,x as g}from"./console-BGSthDAd.js";const _=[`dead`,`pending`,`delivered`];var v=class extends t{#e=``;#t=null;#n=1;#r=-1;#i=null;#a=p(this,async e=>(await this.context.api.list(`/api/v2/webhooks`,{limit:100},{signal:e})).data);#o=p(this,e=>this.#l(e));#s(){this.#a.refresh(),this.#o.refresh()}#c(){let{query:e}=this.route;return{name:e.get(`name`)??``,state:_.find(t=>t===e.get(`state`))??`dead`}}async#l(e){let{name:t,state:n}=this.#c(),r=JSON.stringify({name:t,state:n});if(r!==this.#i&&(this.#n=1),this.#i=r,t===``)return null;let i=`/api/v2/webhooks/${encodeURIComponent(t)}/deliveries`,a={pages:this.#n,pageLength:100,signal:e};return{...await l(this.context.api,i,{state:n},a),name:t,state:n}}updated(){this.#i!==null&&this.#i!==JSON.stringify(this.#c())&&this.#o.refresh()}#u(e){let{name:t,state:n}=this.#c();return e?.name===t?e.state===n:t===``}onKey(e){if(e!==`j`&&e!==`k`)return!1;let t=this.querySelectorAll(`.webhook a, .delivery button`);return this.#r=Math.min(t.length-1,Math.max(0,this.#r+(e===`j`?1:-1))),t[this.#r]?.focus(),!0}#d(e,t){let n=`/api/v2/webhooks/${encodeURIComponent(e)}/deliveries/${encodeURIComponent(t)}/redeliver`;return this.#h(async()=>(await this.context.api.call(n,{method:`POST`}),`Redelivery started.`))}#f(e){return this.#t=null,this.#h(async()=>{let t=await g(this.context.api,{kind:`delivery`,receiver:e});return`Redelivery of ${m(`delivery`,t)} started.`})}#p(e){this.#t=e,this.requestUpdate()}#m(){this.#n+=1,this.#o.refresh()}async#h(e){this.#e=await e().catch(e=>e instanceof d?e.message:String(e)),this.context.attention.refresh(),this.#s(),this.requestUpdate()}render(){let{value:t,error:i}=this.#a;return r`
      <h1>Webhooks</h1>
      ${o(i)} ${this.#e===``?n:r`<p class="note info" role="status">${e(this.#e)}</p>`}
      ${t===void 0?i===null?r`<p role="status">Loading …</p>`:n:this.#g(t)}
      ${this.#c().name===``?n:this.#_()}
    `}#g(e){if(e.length===0)return x();let{name:t}=this.#c();return r`<ul class="rows">
      ${e.map(({name:e,origin:i,types:a,filter:o,pending:c,dead:l})=>r`<li class="webhook">
          <a href=${s(`webhooks?name=${encodeURIComponent(e)}`)} aria-current=${e===t?`true`:n}>${e}</a>
          <span>${i}</span>
          <span class="detail">${a.join(`, `)}${b(o)}</span>
          ${y(`pending`,c)} ${y(`dead`,l)}
        </li>`)}
    </ul>`}#_(){let{name:t,state:i}=this.#c(),{value:a,error:c}=this.#o,l=e=>s(`webhooks?name=${encodeURIComponent(t)}&state=${e}`);return r`<section aria-labelledby="deliveries">
      <h2 id="deliveries">Deliveries to ${e(t)}</h2>
      <p class="tabs">
        ${_.map(e=>r`<a class="tab" href=${l(e)} aria-current=${e===i?`page`:n}>${e}</a>`)}
      </p>
      ${o(c)} ${i===`dead`?this.#y(t):n}
      ${this.#u(a)&&a?this.#v(a):c===null?r`<p role="status">Loading …</p>`:n}
    </section>`}#v({name:e,state:t,data:i,meta:a}){if(i.length===0)return r`<p class="empty">No delivery is ${t}.</p>`;let o=u();return r`<ul class="rows">
        ${f(i,({deliveryId:e})=>e,t=>this.#b(e,t,o))}
      </ul>
      ${a.nextCursor===null?n:r`<button class="plain" @click=${this.#m}>Show ${100} more</button>`}`}#y(t){let i=this.#a.value?.find(e=>e.name===t)?.dead??0;return i===0||!this.context.identity.scopes.includes(`dispatch`)?n:this.#t===t?r`<p class="actions">
      <span role="status">Redeliver ${m(`delivery`,i)} to ${e(t)}?</span>
      <button @click=${()=>this.#f(t)}>Yes, redeliver</button>
      <button @click=${()=>this.#p(null)}>No</button>
    </p>`:r`<p class="actions"><button @click=${()=>this.#p(t)}>Redeliver all dead</button></p>`}#b(e,t,o){let{deliveryId:s,type:l,taskId:u,state:d,updatedAt:f}=t,p=d===`dead`&&this.context.identity.scopes.includes(`dispatch`);return r`<li class="delivery">
      ${a(t)} <code>${l}</code> ${u===null?n:r`<a href=${c(u)}>${u}</a>`}
      <span class="detail">${h(t,o)}</span>
      ${i(f,o)}
      ${p?r`<button @click=${()=>this.#d(e,s)} aria-label="Redeliver ${l}${u===null?``:` of ${u}`}">
              Redeliver
            </button>`:n}
    </li>`}};const y=(e,t)=>r`<span class="badge ${t===0?``:`callback-${e}`}">${t} ${e}</span>`;function b({agentId:e,provider:t,labels:n={}}){let r=Object.entries({agent:e,adapter:t,...n}).filter(([,e])=>e!==void 0);return r.length===0?``:` · ${r.map(([e,t])=>`${e}=${t}`).join(`, `)}`}const x=()=>r`
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