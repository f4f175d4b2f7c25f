import{F as e,R as t,Y as n,Z as r,c as i,d as a,f as o,i as s,o as c,t as l,x as u,y as d}from"./shared-oU8rKXRd.js";import{C as f,S as p,b as m,t as h,x as g}from"./console-BGSthDAd.js";const _=[`dead`,`pending`,`delivered`];var v=class extends t{#e=``;#t=null;#n=-1;#r=1;#i=()=>{};#a=p(this,e=>this.#s(e));connectedCallback(){super.connectedCallback(),this.#i=this.context.feed.subscribe(e=>{(e?.some(({type:e})=>e.startsWith(`callback.`))??!0)&&this.#a.refresh()})}disconnectedCallback(){super.disconnectedCallback(),this.#i()}#o(){return _.find(e=>e===this.route.query.get(`state`))??`dead`}async#s(e){let t=this.#o();t!==this.#a.value?.state&&(this.#r=1);let n={pages:this.#r,pageLength:100,signal:e};return{...await l(this.context.api,`/api/v2/callbacks`,{state:t},n),state:t}}updated(){this.#a.value!==void 0&&this.#a.value.state!==this.#o()&&this.#a.refresh()}onKey(e){if(e!==`j`&&e!==`k`)return!1;let t=this.querySelectorAll(`.callback a`);return this.#n=Math.min(t.length-1,Math.max(0,this.#n+(e===`j`?1:-1))),t[this.#n]?.focus(),!0}async#c(e){await this.#u(`Redelivering …`,async()=>(await this.context.api.call(`/api/v2/callbacks/${encodeURIComponent(e)}/redeliver`,{method:`POST`}),1))}async#l(e){this.#t=null,await this.#u(`Redelivering to ${e} …`,()=>g(this.context.api,{kind:`callback`,receiver:e}))}async#u(e,t){this.#e=e,this.requestUpdate(),this.#e=await t().then(e=>`Redelivery of ${m(`callback`,e)} started.`,e=>e instanceof d?e.message:String(e)),this.context.attention.refresh(),this.#a.refresh(),this.requestUpdate()}async#d(e){this.#e=``;try{this.#t={origin:e,...await this.#f(e)}}catch(e){this.#e=e instanceof d?e.message:String(e)}this.requestUpdate()}async#f(e){let t=0,n;for(let r=0;r<10;r+=1){let r=await this.context.api.list(`/api/v2/callbacks`,{state:`dead`,limit:200,cursor:n});if(t+=r.data.filter(({url:t})=>y(t)===e).length,n=r.meta.nextCursor??void 0,n===void 0)return{count:t,hasMore:!1}}return{count:t,hasMore:!0}}render(){let t=this.#o(),i=this.#a.value?.state===t?this.#a.value:void 0;return r`
      <h1>Callbacks</h1>
      <p class="tabs">
        ${_.map(e=>r`<a class="tab" href=${s(`callbacks?state=${e}`)} aria-current=${e===t?`page`:n}>${e}</a>`)}
      </p>
      ${o(this.#a.error)}
      ${this.#e===``?n:r`<p class="note info" role="status">${e(this.#e)}</p>`}
      ${i===void 0?r`<p role="status">Loading …</p>`:this.#p(t,i)}
    `}#p(e,t){let{data:i,meta:a}=t;if(i.length===0)return r`<p class="empty">${e===`dead`?`No callback is dead.`:`No callback is ${e}.`}</p>`;let o=u();return r`
      ${e===`dead`&&this.context.identity.scopes.includes(`dispatch`)?this.#m(t):n}
      <ul class="rows">
        ${f(i,({taskId:e})=>e,e=>this.#v(e,o))}
      </ul>
      ${a.nextCursor===null?n:r`<button class="plain" @click=${this.#g}>Show ${100} more</button>`}
    `}#m({data:t,meta:n}){let i=Object.entries(Object.groupBy(t,({url:e})=>y(e))).filter(([,e=[]])=>e.length>1||n.nextCursor!==null).map(([e])=>e);return r`${i.map(t=>this.#t?.origin===t?this.#h(this.#t):r`<p><button @click=${()=>this.#d(t)}>Redeliver all dead to ${e(t)}</button></p>`)}`}#h({origin:t,count:n,hasMore:i}){return r`<p class="actions">
      <span role="status">Redeliver ${i?`more than `:``}${m(`callback`,n)} to ${e(t)}?</span>
      <button @click=${()=>this.#l(t)}>Yes, redeliver</button>
      <button @click=${()=>this.#_()}>No</button>
    </p>`}#g(){this.#r+=1,this.#a.refresh()}#_(){this.#t=null,this.requestUpdate()}#v(t,o){let{taskId:s,url:l,state:u,updatedAt:d}=t,f=u===`dead`&&this.context.identity.scopes.includes(`dispatch`);return r`<li class="callback">
      ${a(t)} <a href=${c(s)}>${s}</a> <span>${e(l)}</span>
      <span class="detail">${h(t,o)}</span>
      ${i(d,o)}
      ${f?r`<button @click=${()=>this.#c(s)} aria-label="Redeliver the callback of ${s}">Redeliver</button>`:n}
    </li>`}};function y(e){return URL.canParse(e)?new URL(e).origin:e}customElements.define(`bridge-callbacks`,v);