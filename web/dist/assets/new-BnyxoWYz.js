import{C as e,D as t,F as n,L as r,O as i,R as a,S as o,Y as s,Z as c,a as l,f as u,o as d,y as f}from"./shared-oU8rKXRd.js";import{_ as p,c as m,d as h,f as g,g as _,h as v,l as y,m as b,p as x,u as S,v as C,y as w}from"./console-BGSthDAd.js";var T=class extends r{static properties={context:{attribute:!1},body:{attribute:!1},nameOf:{attribute:!1},onErrors:{attribute:!1}};#e=null;#t=null;#n;#r=null;disconnectedCallback(){super.disconnectedCallback(),clearTimeout(this.#n),this.#r?.abort()}willUpdate(e){e.has(`body`)&&this.body!==null&&(clearTimeout(this.#n),this.#n=setTimeout(()=>void this.#i(this.body??`{}`),500))}async#i(t){this.#r?.abort(),this.#r=new AbortController;let{signal:n}=this.#r;try{let r=e(t);this.#e=await this.context.api.call(`/api/v2/dispatch/check`,{method:`POST`,body:r,signal:n}),this.#t=null,this.onErrors(this.#e.problem?.errors??[])}catch(e){if(n.aborted)return;this.#t=e instanceof f?e:new f(0,`unexpected`,String(e))}this.requestUpdate()}render(){return c`<section class="panel check" aria-labelledby="check" aria-live="polite">
      <h2 id="check">What the dispatch would do</h2>
      ${u(this.#t)} ${this.#a()}
    </section>`}#a(){if(this.body===null)return c`<p class="empty">Fill in the form to see it here, before anything starts.</p>`;if(this.#e===null)return c`<p class="empty">Checking …</p>`;let{problem:e,task:t}=this.#e;return t===null?this.#o(e):E(t)}#o(e){let t=e?.errors??[],r=new Set(t.map(({path:e})=>this.nameOf(e)).filter(e=>e!==null)),i=t.filter(({path:e})=>this.nameOf(e)===null);return t.length===0?c`<p class="note warning">${n(e?.detail??`Bridge would reject it.`)}</p>`:c`${r.size===0?``:c`<p class="empty">To complete: ${[...r].join(`, `)}.</p>`}
      ${i.map(({path:e,message:t})=>c`<p class="note warning"><code>${n(e)}</code> ${n(t)}</p>`)}`}};function E(e){if(e.replayed)return c`<p class="note info">It starts nothing, because a task with this id and content exists.</p>`;let{resolved:r,queueAhead:a}=e,o=[[`Adapter`,`${e.provider}${e.connection===null?``:` · ${e.connection}`}`],[`Model`,r.model??`default of the runtime`],[`Profile`,r.profile],[`Approvals`,r.approvals],[`Time limit`,i(r.timeoutSeconds*1e3)],[`Queued before it`,t(a)]];return c`<dl class="check-facts">
      ${o.map(([e,t])=>c`<div><dt>${e}</dt><dd>${n(t)}</dd></div>`)}
    </dl>
    ${e.warnings.map(e=>c`<p class="note warning">${n(e)}</p>`)}`}customElements.define(`bridge-dispatch-check`,T);const D={responderInput:`{
  "tool": "",
  "describe": ""
}`};var O=class extends a{#e={};#t=[];#n=null;#r=/* @__PURE__ */ new Set;#i=!1;#a=!1;#o=!1;#s=!0;#c=[];#l=[];#u;#d=[];#f=()=>{};connectedCallback(){super.connectedCallback(),this.#f=this.context.attention.subscribe(()=>this.requestUpdate());let e=this.route.query.get(`agentId`);e!==null&&(this.#e.agentId=e),this.#p()}disconnectedCallback(){super.disconnectedCallback(),this.#f()}async#p(){let{api:e}=this.context,t=this.route.query.get(`from`);try{if(t!==null){let n=`/api/v2/tasks/${encodeURIComponent(t)}/request`,{request:r,masked:i}=await e.call(n);this.#e=C(r),this.#d=i,this.#i=!0}this.#s=!1,this.requestUpdate();let{data:n}=await e.list(`/api/v2/agents`,{limit:200});this.#c=n.map(({agentId:e})=>e)}catch(e){this.#n=e instanceof f?e:null}this.#s=!1,this.requestUpdate()}async#m(){let e=this.#e.agentId?.trim()??``,t=this.#c.includes(e)?e:``;if(t===this.#u)return;this.#u=t;let n=await this.context.api.list(`/api/v2/domains`,{limit:200,workspace:t}).catch(()=>null);n!==null&&this.#u===t&&(this.#l=n.data),this.requestUpdate()}#h(){return`bridge.adapter.${this.context.identity.tenant}`}#g(){let{adapters:e}=this.context.attention.state;if(this.#s||(this.#e.provider??``)!==``||e.length===0)return;let t=e.filter(({health:e})=>e.status!==`offline`),n=t.find(({provider:e})=>e===localStorage.getItem(this.#h()))??t.find(({health:e})=>e.status===`healthy`)??t[0]??e[0];this.#e.provider=n?.provider??``}#_(){return this.context.attention.state.adapters.find(({provider:e})=>e===this.#e.provider)}#v(){return S(this.#_())?`council`:`agent`}onKey(e){return e===`/`&&(this.querySelector(`main select, select, input`)?.focus(),!0)}async#y(e){e.preventDefault();let{body:t,errors:n}=x(this.#e,this.#v());if(this.#a=!0,this.#i=!0,this.#n=null,n.length>0)return this.#b();this.#o=!0,this.requestUpdate();try{let{taskId:e}=await this.context.api.call(`/api/v2/dispatch`,{method:`POST`,body:t});localStorage.setItem(this.#h(),this.#e.provider??``),l(d(e))}catch(e){this.#n=e instanceof f?e:new f(0,`unexpected`,String(e)),this.#t=this.#n.errors,await this.#b()}finally{this.#o=!1,this.requestUpdate()}}async#b(){this.requestUpdate(),await this.updateComplete,this.querySelector(`[aria-invalid=true]`)?.focus()}#x(e,t){return{valueOf:e=>this.#e[e]??``,faultOf:n=>{let r=e.find(({path:e})=>_(e,t)===n);return r===void 0||!(this.#a||this.#r.has(n))?``:b(n,r.message)},onEdit:(e,t)=>{this.#e[e]=t,this.#r.add(e),this.#i=!0,this.requestUpdate()}}}render(){if(!this.context.identity.scopes.includes(`dispatch`))return c`<h1>New task</h1><p class="note warning">Your token cannot dispatch tasks.</p>`;this.#g();let e=this.#_(),t=this.#v();t===`council`&&this.#m();let{body:r,errors:i}=x(this.#e,t),a=this.#x([...i,...this.#t],t),l=e=>v[_(e,t)??``]??null;return c`
      <h1>New task</h1>
      ${this.#C(l)}
      ${this.#d.length===0?s:c`<p class="note warning">Replace the masked secrets: ${n(this.#d.join(`, `))}.</p>`}
      <div class="dispatch-page">
        <form class="dispatch" @submit=${this.#y} novalidate>
          ${this.#w(a,e)} ${t===`council`?this.#E(a,e):this.#T(a,e)}
          ${this.#D(a,e,t)}
          <p class="actions wide">
            <button class="primary" type="submit" ?disabled=${this.#o}>Dispatch</button>
            ${this.#o?c`<span role="status">Sending …</span>`:s}
          </p>
        </form>
        <div class="dispatch-side">
          <bridge-dispatch-check
            .context=${this.context} .body=${this.#i?JSON.stringify(r):null} .nameOf=${l} .onErrors=${this.#S}
          ></bridge-dispatch-check>
          ${A(`As a command`,p(new URL(`api/v2/dispatch`,o).href,r),`Copy as curl`)}
          ${A(`As TypeScript`,w(o.href,r),`Copy as TypeScript`)}
        </div>
      </div>
    `}#S=e=>{this.#t=e,this.requestUpdate()};#C(e){if(this.#n===null||this.#n.errors.length===0)return u(this.#n);let t=this.#n.errors.filter(({path:t})=>e(t)===null);return c`${t.map(({path:e,message:t})=>c`<p class="note error" role="alert"><code>${n(e)}</code> ${n(t)}</p>`)}`}#w(e,t){let{adapters:r}=this.context.attention.state,i=r.map(({provider:e,health:t})=>{let n=t.status===`offline`;return{value:e,name:n?`${e} (offline)`:e,isDisabled:n&&e!==this.#e.provider}}),a=this.#e.agentId?.trim()??``,o=a===``||this.#c.includes(a)?`The task works in the directory of this agent. A new name creates one.`:`This is a new agent: the task creates its directory.`;return c`
      ${h({name:`provider`,type:i,none:r.length===0?`default`:null},e)}
      ${h({name:`agentId`,list:`agents`,hint:o},e)}
      <datalist id="agents">${this.#c.map(e=>c`<option value=${e}></option>`)}</datalist>
      ${t===void 0||t.health.status===`healthy`?s:c`<p class="note warning wide">${t.provider} is ${t.health.status}. ${n(t.health.detail??``)}</p>`}
    `}#T(e,t){let{approvals:n,outputStrategies:r=[]}=t?.capabilities??{};for(let e of y(t))this.#e[e]??=D[e]??``;return c`
      ${h({name:`message`,type:`area`,hint:`What to do.`},e)}
      ${y(t).map(t=>h({name:t,type:`area`,hint:`JSON`},e))}
      ${h({name:`profile`,type:k([`inspect`,`modify`]),hint:`inspect: read-only. modify: may edit files and run commands.`},e)}
      ${n===!0?h({name:`approvals`,type:k([`ask`,`deny`,`allow`])},e):s}
      ${h({name:`model`},e)} ${h({name:`timeoutSeconds`,type:`number`},e)}
      ${r.length>1?h({name:`output`,type:k(r)},e):s}
      ${this.#e.output===`file`?h({name:`outputPath`},e):s}
      ${this.#e.output===`structured`?h({name:`outputSchema`,type:`area`},e):s}
    `}#E(e,t){let{adapters:n}=this.context.attention.state;return c`
      ${m(e,{provider:t?.provider??``,adapters:n,domains:this.#l})}
    `}#D(e,t,n){let{sessionResume:r}=t?.capabilities??{};return c`<details class="wide">
      <summary>More fields</summary>
      <div class="dispatch">
        ${h({name:`taskId`,hint:`A repeated id refers to the same task.`},e)}
        ${r===!0?h({name:`resumeToken`},e):s}
        ${h({name:`callbackUrl`,type:`url`},e)} ${n===`council`?h({name:`model`},e):s}
        ${h({name:`systemPrompt`,type:`area`},e)} ${h({name:`metadata`,type:`area`,hint:`JSON object`},e)}
        ${n===`council`?h({name:`council.others`,type:`area`,hint:`JSON object, such as {"context_summary": "…"}`},e):s}
        ${h({name:`others`,type:`area`,hint:`JSON object`},e)}
      </div>
    </details>`}};const k=e=>e.map(e=>({value:e})),A=(e,t,r)=>c`<details>
    <summary>${e}</summary>
    <pre tabindex="0">${n(t)}</pre>
    ${g(t,r)}
  </details>`;customElements.define(`bridge-new`,O);