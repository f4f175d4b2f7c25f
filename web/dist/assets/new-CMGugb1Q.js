import{C as e,I as t,O as n,Q as r,R as i,X as a,a as o,b as s,f as c,k as l,o as u,w as d,z as f}from"./shared-CQ6XbefZ.js";import{_ as p,b as m,d as h,f as g,g as _,h as v,m as y,p as b,u as x,v as S,x as C,y as w}from"./console-DneAusuB.js";var T=class extends i{static properties={context:{attribute:!1},body:{attribute:!1},nameOf:{attribute:!1},onErrors:{attribute:!1}};#e=null;#t=null;#n;#r=null;disconnectedCallback(){super.disconnectedCallback(),clearTimeout(this.#n),this.#r?.abort()}willUpdate(e){e.has(`body`)&&this.body!==null&&(clearTimeout(this.#n),this.#n=setTimeout(()=>void this.#i(this.body??`{}`),500))}async#i(e){this.#r?.abort(),this.#r=new AbortController;let{signal:t}=this.#r;try{let n=d(e);this.#e=await this.context.api.call(`/api/v2/dispatch/check`,{method:`POST`,body:n,signal:t}),this.#t=null,this.onErrors(this.#e.problem?.errors??[])}catch(e){if(t.aborted)return;this.#t=e instanceof s?e:new s(0,`unexpected`,String(e))}this.requestUpdate()}render(){return r`<section class="panel check" aria-labelledby="check" aria-live="polite">
      <h2 id="check">What the dispatch would do</h2>
      ${c(this.#t)} ${this.#a()}
    </section>`}#a(){if(this.body===null)return r`<p class="empty">Fill in the form to see it here, before anything starts.</p>`;if(this.#e===null)return r`<p class="empty">Checking …</p>`;let{problem:e,task:t}=this.#e;return t===null?this.#o(e):E(t)}#o(e){let n=e?.errors??[],i=new Set(n.map(({path:e})=>this.nameOf(e)).filter(e=>e!==null)),a=n.filter(({path:e})=>this.nameOf(e)===null);return n.length===0?r`<p class="note warning">${t(e?.detail??`Bridge would reject it.`)}</p>`:r`${i.size===0?``:r`<p class="empty">To complete: ${[...i].join(`, `)}.</p>`}
      ${a.map(({path:e,message:n})=>r`<p class="note warning"><code>${t(e)}</code> ${t(n)}</p>`)}`}};function E(e){if(e.replayed)return r`<p class="note info">It starts nothing, because a task with this id and content exists.</p>`;let{resolved:i,queueAhead:a}=e,o=[[`Adapter`,`${e.provider}${e.connection===null?``:` · ${e.connection}`}`],[`Model`,i.model??`default of the runtime`],[`Profile`,i.profile],[`Approvals`,i.approvals],[`Time limit`,l(i.timeoutSeconds*1e3)],[`Queued before it`,n(a)]];return r`<dl class="check-facts">
      ${o.map(([e,n])=>r`<div><dt>${e}</dt><dd>${t(n)}</dd></div>`)}
    </dl>
    ${e.warnings.map(e=>r`<p class="note warning">${t(e)}</p>`)}`}customElements.define(`bridge-dispatch-check`,T);const D={responderInput:`{
  "tool": "",
  "describe": ""
}`};var O=class extends f{#e={};#t=[];#n=null;#r=/* @__PURE__ */ new Set;#i=!1;#a=!1;#o=!1;#s=!0;#c=[];#l=[];#u;#d=[];#f=()=>{};connectedCallback(){super.connectedCallback(),this.#f=this.context.attention.subscribe(()=>this.requestUpdate());let e=this.route.query.get(`agentId`);e!==null&&(this.#e.agentId=e),this.#p()}disconnectedCallback(){super.disconnectedCallback(),this.#f()}async#p(){let{api:e}=this.context,t=this.route.query.get(`from`);try{if(t!==null){let n=`/api/v2/tasks/${encodeURIComponent(t)}/request`,{request:r,masked:i}=await e.call(n);this.#e=m(r),this.#d=i,this.#i=!0}this.#s=!1,this.requestUpdate();let{data:n}=await e.list(`/api/v2/agents`,{limit:200});this.#c=n.map(({agentId:e})=>e)}catch(e){this.#n=e instanceof s?e:null}this.#s=!1,this.requestUpdate()}async#m(){let e=this.#e.agentId?.trim()??``,t=this.#c.includes(e)?e:``;if(t===this.#u)return;this.#u=t;let n=await this.context.api.list(`/api/v2/domains`,{limit:200,workspace:t}).catch(()=>null);n!==null&&this.#u===t&&(this.#l=n.data),this.requestUpdate()}#h(){return`bridge.adapter.${this.context.identity.tenant}`}#g(){let{adapters:e}=this.context.attention.state;if(this.#s||(this.#e.provider??``)!==``||e.length===0)return;let t=e.filter(({health:e})=>e.status!==`offline`),n=t.find(({provider:e})=>e===localStorage.getItem(this.#h()))??t.find(({health:e})=>e.status===`healthy`)??t[0]??e[0];this.#e.provider=n?.provider??``}#_(){return this.context.attention.state.adapters.find(({provider:e})=>e===this.#e.provider)}#v(){return g(this.#_())?`council`:`agent`}onKey(e){return e===`/`&&(this.querySelector(`main select, select, input`)?.focus(),!0)}async#y(e){e.preventDefault();let{body:t,errors:n}=v(this.#e,this.#v());if(this.#a=!0,this.#i=!0,this.#n=null,n.length>0)return this.#b();this.#o=!0,this.requestUpdate();try{let{taskId:e}=await this.context.api.call(`/api/v2/dispatch`,{method:`POST`,body:t});localStorage.setItem(this.#h(),this.#e.provider??``),o(u(e))}catch(e){this.#n=e instanceof s?e:new s(0,`unexpected`,String(e)),this.#t=this.#n.errors,await this.#b()}finally{this.#o=!1,this.requestUpdate()}}async#b(){this.requestUpdate(),await this.updateComplete,this.querySelector(`[aria-invalid=true]`)?.focus()}#x(e,t){return{valueOf:e=>this.#e[e]??``,faultOf:n=>{let r=e.find(({path:e})=>S(e,t)===n);return r===void 0||!(this.#a||this.#r.has(n))?``:_(n,r.message)},onEdit:(e,t)=>{this.#e[e]=t,this.#r.add(e),this.#i=!0,this.requestUpdate()}}}render(){if(!this.context.identity.scopes.includes(`dispatch`))return r`<h1>New task</h1><p class="note warning">Your token cannot dispatch tasks.</p>`;this.#g();let n=this.#_(),i=this.#v();i===`council`&&this.#m();let{body:o,errors:s}=v(this.#e,i),c=this.#x([...s,...this.#t],i),l=e=>p[S(e,i)??``]??null;return r`
      <h1>New task</h1>
      ${this.#C(l)}
      ${this.#d.length===0?a:r`<p class="note warning">Replace the masked secrets: ${t(this.#d.join(`, `))}.</p>`}
      <div class="dispatch-page">
        <form class="dispatch" @submit=${this.#y} novalidate>
          ${this.#w(c,n)} ${i===`council`?this.#E(c,n):this.#T(c,n)}
          ${this.#D(c,n,i)}
          <p class="actions wide">
            <button class="primary" type="submit" ?disabled=${this.#o}>Dispatch</button>
            ${this.#o?r`<span role="status">Sending …</span>`:a}
          </p>
        </form>
        <div class="dispatch-side">
          <bridge-dispatch-check
            .context=${this.context} .body=${this.#i?JSON.stringify(o):null} .nameOf=${l} .onErrors=${this.#S}
          ></bridge-dispatch-check>
          ${A(`As a command`,w(new URL(`api/v2/dispatch`,e).href,o),`Copy as curl`)}
          ${A(`As TypeScript`,C(e.href,o),`Copy as TypeScript`)}
        </div>
      </div>
    `}#S=e=>{this.#t=e,this.requestUpdate()};#C(e){if(this.#n===null||this.#n.errors.length===0)return c(this.#n);let n=this.#n.errors.filter(({path:t})=>e(t)===null);return r`${n.map(({path:e,message:n})=>r`<p class="note error" role="alert"><code>${t(e)}</code> ${t(n)}</p>`)}`}#w(e,n){let{adapters:i}=this.context.attention.state,o=i.map(({provider:e,health:t})=>{let n=t.status===`offline`;return{value:e,name:n?`${e} (offline)`:e,isDisabled:n&&e!==this.#e.provider}}),s=this.#e.agentId?.trim()??``,c=s===``||this.#c.includes(s)?`The task works in the directory of this agent. A new name creates one.`:`This is a new agent: the task creates its directory.`;return r`
      ${b({name:`provider`,type:o,none:i.length===0?`default`:null},e)}
      ${b({name:`agentId`,list:`agents`,hint:c},e)}
      <datalist id="agents">${this.#c.map(e=>r`<option value=${e}></option>`)}</datalist>
      ${n===void 0||n.health.status===`healthy`?a:r`<p class="note warning wide">${n.provider} is ${n.health.status}. ${t(n.health.detail??``)}</p>`}
    `}#T(e,t){let{approvals:n,outputStrategies:i=[]}=t?.capabilities??{};for(let e of h(t))this.#e[e]??=D[e]??``;return r`
      ${b({name:`message`,type:`area`,hint:`What to do.`},e)}
      ${h(t).map(t=>b({name:t,type:`area`,hint:`JSON`},e))}
      ${b({name:`profile`,type:k([`inspect`,`modify`]),hint:`inspect: read-only. modify: may edit files and run commands.`},e)}
      ${n===!0?b({name:`approvals`,type:k([`ask`,`deny`,`allow`])},e):a}
      ${b({name:`model`},e)} ${b({name:`timeoutSeconds`,type:`number`},e)}
      ${i.length>1?b({name:`output`,type:k(i)},e):a}
      ${this.#e.output===`file`?b({name:`outputPath`},e):a}
      ${this.#e.output===`structured`?b({name:`outputSchema`,type:`area`},e):a}
    `}#E(e,t){let{adapters:n}=this.context.attention.state;return r`
      ${x(e,{provider:t?.provider??``,adapters:n,domains:this.#l})}
    `}#D(e,t,n){let{sessionResume:i}=t?.capabilities??{};return r`<details class="wide">
      <summary>More fields</summary>
      <div class="dispatch">
        ${b({name:`taskId`,hint:`A repeated id refers to the same task.`},e)}
        ${i===!0?b({name:`resumeToken`},e):a}
        ${b({name:`callbackUrl`,type:`url`},e)} ${n===`council`?b({name:`model`},e):a}
        ${b({name:`systemPrompt`,type:`area`},e)} ${b({name:`metadata`,type:`area`,hint:`JSON object`},e)}
        ${n===`council`?b({name:`council.others`,type:`area`,hint:`JSON object, such as {"context_summary": "…"}`},e):a}
        ${b({name:`others`,type:`area`,hint:`JSON object`},e)}
      </div>
    </details>`}};const k=e=>e.map(e=>({value:e})),A=(e,n,i)=>r`<details>
    <summary>${e}</summary>
    <pre tabindex="0">${t(n)}</pre>
    ${y(n,i)}
  </details>`;customElements.define(`bridge-new`,O);