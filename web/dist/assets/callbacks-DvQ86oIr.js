import{B as e,C as t,S as n,T as r,U as i,a,et as o,f as s,l as c,nt as l,p as u,r as d}from"./shared-C71ngRhu.js";import{C as f,D as p,E as m,O as h,T as g,n as _,w as v}from"./console-Ds4iPE9S.js";const y=[`dead`,`pending`,`delivered`];var b=class extends i{#e=``;#t=null;#n=!1;#r=-1;#i=1;#a=()=>{};#o=n(this,e=>this.#c(e));connectedCallback(){super.connectedCallback(),this.#a=this.context.feed.subscribe(e=>{(e?.some(({type:e})=>e.startsWith(`callback.`))??!0)&&this.#o.refresh()})}disconnectedCallback(){super.disconnectedCallback(),this.#a()}#s(){return y.find(e=>e===this.route.query.get(`state`))??`dead`}async#c(e){let t=this.#s();t!==this.#o.value?.state&&(this.#i=1);let n={pages:this.#i,pageLength:100,signal:e};return{...await g(this.context.api,`/api/v2/callbacks`,{state:t},n),state:t}}updated(){this.#o.value!==void 0&&this.#o.value.state!==this.#s()&&this.#o.refresh()}onKey(e){if(e!==`j`&&e!==`k`)return!1;let t=this.querySelectorAll(`.callback a`);return this.#r=Math.min(t.length-1,Math.max(0,this.#r+(e===`j`?1:-1))),t[this.#r]?.focus(),!0}#l(e){this.#t=null,this.#n=!1,this.requestUpdate(),this.querySelector(`bridge-redelivery`)?.start({kind:`callback`,...e})}async#u(e){this.#e=``;try{this.#t={origin:e,...await this.#d(e)}}catch(e){this.#e=e instanceof t?e.message:String(e)}this.requestUpdate()}async#d(e){let t=0,n;for(let r=0;r<10;r+=1){let r=await this.context.api.list(`/api/v2/callbacks`,{state:`dead`,limit:200,cursor:n});if(t+=r.data.filter(({url:t})=>v(t)===e).length,n=r.meta.nextCursor??void 0,n===void 0)return{count:t,hasMore:!1}}return{count:t,hasMore:!0}}render(){let t=this.#s(),n=this.#o.value?.state===t?this.#o.value:void 0;return l`
      <h1>Callbacks</h1>
      <p class="tabs">
        ${y.map(e=>l`<a class="tab" href=${d(`callbacks?state=${e}`)} aria-current=${e===t?`page`:o}>${e}</a>`)}
      </p>
      ${u(this.#o.error)}
      ${this.#e===``?o:l`<p class="note error" role="alert">${e(this.#e)}</p>`}
      <bridge-redelivery .context=${this.context} .onChange=${()=>this.#o.refresh()}></bridge-redelivery>
      ${n===void 0?l`<p role="status">Loading …</p>`:this.#f(t,n)}
    `}#f(e,t){let{data:n,meta:i}=t;if(n.length===0)return m(h,`No callback is ${e}.`,l`A task with a <code>callbackUrl</code> posts its result when it ends. <a href=${d(`new`)}>Dispatch one</a>`);let a=r();return l`
      ${e===`dead`&&this.context.identity.scopes.includes(`dispatch`)?this.#p(t):o}
      <ul class="rows">
        ${p(n,({taskId:e})=>e,e=>this.#y(e,a))}
      </ul>
      ${i.nextCursor===null?o:l`<button class="plain" @click=${this.#_}>Show ${100} more</button>`}
    `}#p({data:t,meta:n}){let r=Object.entries(Object.groupBy(t,({url:e})=>v(e))).filter(([,e=[]])=>e.length>1||n.nextCursor!==null).map(([e])=>e),i=Object.keys(Object.groupBy(t,({url:e})=>v(e))),a=n.nextCursor!==null;return l`${i.length>1||a?this.#m(a?`all`:String(i.length)):o}
    ${r.map(t=>this.#t?.origin===t?this.#g(this.#t):l`<p><button @click=${()=>this.#u(t)}>Redeliver all dead to ${e(t)}</button></p>`)}`}#m(e){return this.#n?l`<p class="actions">
      <span role="status">Redeliver all dead callbacks to ${e} receivers?</span>
      <button @click=${()=>this.#l({receiver:null})}>Yes, redeliver</button>
      <button @click=${()=>this.#h(!1)}>No</button>
    </p>`:l`<p><button @click=${()=>this.#h(!0)}>Redeliver all</button></p>`}#h(e){this.#n=e,this.requestUpdate()}#g({origin:t,count:n,hasMore:r}){return l`<p class="actions">
      <span role="status">Redeliver ${r?`more than `:``}${f(`callback`,n)} to ${e(t)}?</span>
      <button @click=${()=>this.#l({receiver:t})}>Yes, redeliver</button>
      <button @click=${()=>this.#v()}>No</button>
    </p>`}#_(){this.#i+=1,this.#o.refresh()}#v(){this.#t=null,this.requestUpdate()}#y(t,n){let{taskId:r,url:i,state:u,updatedAt:d}=t,f=u===`dead`&&this.context.identity.scopes.includes(`dispatch`);return l`<li class="callback">
      ${s(t)} <a href=${a(r)}>${r}</a> <span>${e(i)}</span>
      <span class="detail">${_(t,n)}</span>
      ${c(d,n)}
      ${f?l`<button @click=${()=>this.#l({receiver:v(i),id:r})} aria-label="Redeliver the callback of ${r}">Redeliver</button>`:o}
    </li>`}};customElements.define(`bridge-callbacks`,b);