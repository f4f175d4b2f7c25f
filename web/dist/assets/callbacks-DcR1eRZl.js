import{I as e,Q as t,X as n,a as r,d as i,r as a,s as o,u as s,x as c,y as l,z as u}from"./shared-Cl6XpTc0.js";import{C as d,D as f,E as p,S as m,n as h,w as g}from"./console-Bn6dMiTx.js";const _=[`dead`,`pending`,`delivered`];var v=class extends u{#e=``;#t=null;#n=-1;#r=1;#i=()=>{};#a=p(this,e=>this.#s(e));connectedCallback(){super.connectedCallback(),this.#i=this.context.feed.subscribe(e=>{(e?.some(({type:e})=>e.startsWith(`callback.`))??!0)&&this.#a.refresh()})}disconnectedCallback(){super.disconnectedCallback(),this.#i()}#o(){return _.find(e=>e===this.route.query.get(`state`))??`dead`}async#s(e){let t=this.#o();t!==this.#a.value?.state&&(this.#r=1);let n={pages:this.#r,pageLength:100,signal:e};return{...await g(this.context.api,`/api/v2/callbacks`,{state:t},n),state:t}}updated(){this.#a.value!==void 0&&this.#a.value.state!==this.#o()&&this.#a.refresh()}onKey(e){if(e!==`j`&&e!==`k`)return!1;let t=this.querySelectorAll(`.callback a`);return this.#n=Math.min(t.length-1,Math.max(0,this.#n+(e===`j`?1:-1))),t[this.#n]?.focus(),!0}async#c(e){await this.#u(`Redelivering …`,async()=>(await this.context.api.call(`/api/v2/callbacks/${encodeURIComponent(e)}/redeliver`,{method:`POST`}),1))}async#l(e){this.#t=null,await this.#u(`Redelivering to ${e} …`,()=>d(this.context.api,{kind:`callback`,receiver:e}))}async#u(e,t){this.#e=e,this.requestUpdate(),this.#e=await t().then(e=>`Redelivery of ${m(`callback`,e)} started.`,e=>e instanceof l?e.message:String(e)),this.context.attention.refresh(),this.#a.refresh(),this.requestUpdate()}async#d(e){this.#e=``;try{this.#t={origin:e,...await this.#f(e)}}catch(e){this.#e=e instanceof l?e.message:String(e)}this.requestUpdate()}async#f(e){let t=0,n;for(let r=0;r<10;r+=1){let r=await this.context.api.list(`/api/v2/callbacks`,{state:`dead`,limit:200,cursor:n});if(t+=r.data.filter(({url:t})=>y(t)===e).length,n=r.meta.nextCursor??void 0,n===void 0)return{count:t,hasMore:!1}}return{count:t,hasMore:!0}}render(){let r=this.#o(),o=this.#a.value?.state===r?this.#a.value:void 0;return t`
      <h1>Callbacks</h1>
      <p class="tabs">
        ${_.map(e=>t`<a class="tab" href=${a(`callbacks?state=${e}`)} aria-current=${e===r?`page`:n}>${e}</a>`)}
      </p>
      ${i(this.#a.error)}
      ${this.#e===``?n:t`<p class="note info" role="status">${e(this.#e)}</p>`}
      ${o===void 0?t`<p role="status">Loading …</p>`:this.#p(r,o)}
    `}#p(e,r){let{data:i,meta:a}=r;if(i.length===0)return t`<p class="empty">${e===`dead`?`No callback is dead.`:`No callback is ${e}.`}</p>`;let o=c();return t`
      ${e===`dead`&&this.context.identity.scopes.includes(`dispatch`)?this.#m(r):n}
      <ul class="rows">
        ${f(i,({taskId:e})=>e,e=>this.#v(e,o))}
      </ul>
      ${a.nextCursor===null?n:t`<button class="plain" @click=${this.#g}>Show ${100} more</button>`}
    `}#m({data:n,meta:r}){let i=Object.entries(Object.groupBy(n,({url:e})=>y(e))).filter(([,e=[]])=>e.length>1||r.nextCursor!==null).map(([e])=>e);return t`${i.map(n=>this.#t?.origin===n?this.#h(this.#t):t`<p><button @click=${()=>this.#d(n)}>Redeliver all dead to ${e(n)}</button></p>`)}`}#h({origin:n,count:r,hasMore:i}){return t`<p class="actions">
      <span role="status">Redeliver ${i?`more than `:``}${m(`callback`,r)} to ${e(n)}?</span>
      <button @click=${()=>this.#l(n)}>Yes, redeliver</button>
      <button @click=${()=>this.#_()}>No</button>
    </p>`}#g(){this.#r+=1,this.#a.refresh()}#_(){this.#t=null,this.requestUpdate()}#v(i,a){let{taskId:c,url:l,state:u,updatedAt:d}=i,f=u===`dead`&&this.context.identity.scopes.includes(`dispatch`);return t`<li class="callback">
      ${s(i)} <a href=${r(c)}>${c}</a> <span>${e(l)}</span>
      <span class="detail">${h(i,a)}</span>
      ${o(d,a)}
      ${f?t`<button @click=${()=>this.#c(c)} aria-label="Redeliver the callback of ${c}">Redeliver</button>`:n}
    </li>`}};function y(e){return URL.canParse(e)?new URL(e).origin:e}customElements.define(`bridge-callbacks`,v);