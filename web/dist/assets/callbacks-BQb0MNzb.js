import{B as e,C as t,S as n,T as r,U as i,a,et as o,f as s,l as c,nt as l,p as u,r as d}from"./shared-NBIuJExs.js";import{C as f,D as p,E as m,S as h,T as g,n as _,w as v}from"./console-DOV3v_Md.js";const y=[`dead`,`pending`,`delivered`];var b=class extends i{#e=``;#t=null;#n=!1;#r=-1;#i=1;#a=()=>{};#o=n(this,e=>this.#c(e));connectedCallback(){super.connectedCallback(),this.#a=this.context.feed.subscribe(e=>{(e?.some(({type:e})=>e.startsWith(`callback.`))??!0)&&this.#o.refresh()})}disconnectedCallback(){super.disconnectedCallback(),this.#a()}#s(){return y.find(e=>e===this.route.query.get(`state`))??`dead`}async#c(e){let t=this.#s();t!==this.#o.value?.state&&(this.#i=1);let n={pages:this.#i,pageLength:100,signal:e};return{...await v(this.context.api,`/api/v2/callbacks`,{state:t},n),state:t}}updated(){this.#o.value!==void 0&&this.#o.value.state!==this.#s()&&this.#o.refresh()}onKey(e){if(e!==`j`&&e!==`k`)return!1;let t=this.querySelectorAll(`.callback a`);return this.#r=Math.min(t.length-1,Math.max(0,this.#r+(e===`j`?1:-1))),t[this.#r]?.focus(),!0}async#l(e){await this.#d(`Redelivering …`,async()=>(await this.context.api.call(`/api/v2/callbacks/${encodeURIComponent(e)}/redeliver`,{method:`POST`}),1))}async#u(e){this.#t=null,await this.#d(`Redelivering to ${e} …`,()=>f(this.context.api,{kind:`callback`,receiver:e}))}async#d(e,n){this.#e=e,this.requestUpdate(),this.#e=await n().then(e=>`Redelivery of ${h(`callback`,e)} started.`,e=>e instanceof t?e.message:String(e)),this.context.attention.refresh(),this.#o.refresh(),this.requestUpdate()}async#f(e){this.#e=``;try{this.#t={origin:e,...await this.#p(e)}}catch(e){this.#e=e instanceof t?e.message:String(e)}this.requestUpdate()}async#p(e){let t=0,n;for(let r=0;r<10;r+=1){let r=await this.context.api.list(`/api/v2/callbacks`,{state:`dead`,limit:200,cursor:n});if(t+=r.data.filter(({url:t})=>x(t)===e).length,n=r.meta.nextCursor??void 0,n===void 0)return{count:t,hasMore:!1}}return{count:t,hasMore:!0}}render(){let t=this.#s(),n=this.#o.value?.state===t?this.#o.value:void 0;return l`
      <h1>Callbacks</h1>
      <p class="tabs">
        ${y.map(e=>l`<a class="tab" href=${d(`callbacks?state=${e}`)} aria-current=${e===t?`page`:o}>${e}</a>`)}
      </p>
      ${u(this.#o.error)}
      ${this.#e===``?o:l`<p class="note info" role="status">${e(this.#e)}</p>`}
      ${n===void 0?l`<p role="status">Loading …</p>`:this.#m(t,n)}
    `}#m(e,t){let{data:n,meta:i}=t;if(n.length===0)return g(p,`No callback is ${e}.`,l`A task with a <code>callbackUrl</code> posts its result when it ends. <a href=${d(`new`)}>Dispatch one</a>`);let a=r();return l`
      ${e===`dead`&&this.context.identity.scopes.includes(`dispatch`)?this.#h(t):o}
      <ul class="rows">
        ${m(n,({taskId:e})=>e,e=>this.#S(e,a))}
      </ul>
      ${i.nextCursor===null?o:l`<button class="plain" @click=${this.#b}>Show ${100} more</button>`}
    `}#h({data:t,meta:n}){let r=Object.entries(Object.groupBy(t,({url:e})=>x(e))).filter(([,e=[]])=>e.length>1||n.nextCursor!==null).map(([e])=>e),i=Object.keys(Object.groupBy(t,({url:e})=>x(e)));return l`${i.length>1&&n.nextCursor===null?this.#g(i):o}
    ${r.map(t=>this.#t?.origin===t?this.#y(this.#t):l`<p><button @click=${()=>this.#f(t)}>Redeliver all dead to ${e(t)}</button></p>`)}`}#g(e){return this.#n?l`<p class="actions">
      <span role="status">Redeliver all dead callbacks to ${e.length} receivers?</span>
      <button @click=${()=>this.#v(e)}>Yes, redeliver</button>
      <button @click=${()=>this.#_(!1)}>No</button>
    </p>`:l`<p><button @click=${()=>this.#_(!0)}>Redeliver all</button></p>`}#_(e){this.#n=e,this.requestUpdate()}async#v(e){this.#n=!1,await this.#d(`Redelivering …`,async()=>{let t=0;for(let n of e)t+=await f(this.context.api,{kind:`callback`,receiver:n});return t})}#y({origin:t,count:n,hasMore:r}){return l`<p class="actions">
      <span role="status">Redeliver ${r?`more than `:``}${h(`callback`,n)} to ${e(t)}?</span>
      <button @click=${()=>this.#u(t)}>Yes, redeliver</button>
      <button @click=${()=>this.#x()}>No</button>
    </p>`}#b(){this.#i+=1,this.#o.refresh()}#x(){this.#t=null,this.requestUpdate()}#S(t,n){let{taskId:r,url:i,state:u,updatedAt:d}=t,f=u===`dead`&&this.context.identity.scopes.includes(`dispatch`);return l`<li class="callback">
      ${s(t)} <a href=${a(r)}>${r}</a> <span>${e(i)}</span>
      <span class="detail">${_(t,n)}</span>
      ${c(d,n)}
      ${f?l`<button @click=${()=>this.#l(r)} aria-label="Redeliver the callback of ${r}">Redeliver</button>`:o}
    </li>`}};function x(e){return URL.canParse(e)?new URL(e).origin:e}customElements.define(`bridge-callbacks`,b);