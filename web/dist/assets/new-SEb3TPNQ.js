import{C as e,D as t,I as n,O as r,Q as i,R as a,S as o,X as s,a as c,d as l,i as u,y as d,z as f}from"./shared-Cl6XpTc0.js";import{_ as p,b as m,d as h,f as g,g as _,h as v,m as y,p as b,t as x,u as S,v as C,x as w,y as T}from"./console-Bn6dMiTx.js";var E=class extends a{static properties={context:{attribute:!1},body:{attribute:!1},nameOf:{attribute:!1},onErrors:{attribute:!1}};#e=null;#t=null;#n;#r=null;disconnectedCallback(){super.disconnectedCallback(),clearTimeout(this.#n),this.#r?.abort()}willUpdate(e){e.has(`body`)&&this.body!==null&&(clearTimeout(this.#n),this.#n=setTimeout(()=>void this.#i(this.body??`{}`),500))}async#i(t){this.#r?.abort(),this.#r=new AbortController;let{signal:n}=this.#r;try{let r=e(t);this.#e=await this.context.api.call(`/api/v2/dispatch/check`,{method:`POST`,body:r,signal:n}),this.#t=null,this.onErrors(this.#e.problem?.errors??[])}catch(e){if(n.aborted)return;this.#t=e instanceof d?e:new d(0,`unexpected`,String(e))}this.requestUpdate()}render(){return i`<section class="panel check" aria-labelledby="check" aria-live="polite">
      <h2 id="check">What the dispatch would do</h2>
      ${l(this.#t)} ${this.#a()}
    </section>`}#a(){if(this.body===null)return i`<p class="empty">Fill in the form to see it here, before anything starts.</p>`;if(this.#e===null)return i`<p class="empty">Checking …</p>`;let{problem:e,task:t}=this.#e;return t===null?this.#o(e):D(t)}#o(e){let t=e?.errors??[],r=new Set(t.map(({path:e})=>this.nameOf(e)).filter(e=>e!==null)),a=t.filter(({path:e})=>this.nameOf(e)===null);return t.length===0?i`<p class="note warning">${n(e?.detail??`Bridge would reject it.`)}</p>`:i`${r.size===0?``:i`<p class="empty">To complete: ${[...r].join(`, `)}.</p>`}
      ${a.map(({path:e,message:t})=>i`<p class="note warning"><code>${n(e)}</code> ${n(t)}</p>`)}`}};function D(e){if(e.replayed)return i`<p class="note info">It starts nothing, because a task with this id and content exists.</p>`;let{resolved:a,queueAhead:o}=e,s=[[`Adapter`,`${e.provider}${e.connection===null?``:` · ${e.connection}`}`],[`Model`,a.model??`default of the runtime`],[`Profile`,a.profile],[`Approvals`,a.approvals],[`Time limit`,r(a.timeoutSeconds*1e3)],[`Queued before it`,t(o)]];return i`<dl class="check-facts">
      ${s.map(([e,t])=>i`<div><dt>${e}</dt><dd>${n(t)}</dd></div>`)}
    </dl>
    ${e.warnings.map(e=>i`<p class="note warning">${n(e)}</p>`)}`}customElements.define(`bridge-dispatch-check`,E);const O={responderInput:`{
  "tool": "",
  "describe": ""
}`};var k=class extends f{#e={};#t=[];#n=null;#r=/* @__PURE__ */ new Set;#i=!1;#a=!1;#o=!1;#s=!0;#c=[];#l=[];#u=null;#d;#f=[];#p=()=>{};connectedCallback(){super.connectedCallback(),this.#p=this.context.attention.subscribe(()=>this.requestUpdate());let e=this.route.query.get(`agentId`);e!==null&&(this.#e.agentId=e),this.#m()}disconnectedCallback(){super.disconnectedCallback(),this.#p()}async#m(){let{api:e}=this.context,t=this.route.query.get(`from`);try{if(t!==null){let n=`/api/v2/tasks/${encodeURIComponent(t)}`,[{request:r,masked:i},a]=await Promise.all([e.call(`${n}/request`),e.call(n)]);this.#e=m(r),this.#u=x(a,this.#e),this.#u?.value!==void 0&&(this.#e[this.#u.field]=this.#u.value),this.#f=i,this.#i=!0}this.#s=!1,this.requestUpdate();let{data:n}=await e.list(`/api/v2/agents`,{limit:200});this.#c=n.map(({agentId:e})=>e)}catch(e){this.#n=e instanceof d?e:null}this.#s=!1,this.requestUpdate()}async#h(){let e=this.#e.agentId?.trim()??``,t=this.#c.includes(e)?e:``;if(t===this.#d)return;this.#d=t;let n=await this.context.api.list(`/api/v2/domains`,{limit:200,workspace:t}).catch(()=>null);n!==null&&this.#d===t&&(this.#l=n.data),this.requestUpdate()}#g(){return`bridge.adapter.${this.context.identity.tenant}`}#_(){let{adapters:e}=this.context.attention.state;if(this.#s||(this.#e.provider??``)!==``||e.length===0)return;let t=e.filter(({health:e})=>e.status!==`offline`),n=t.find(({provider:e})=>e===localStorage.getItem(this.#g()))??t.find(({health:e})=>e.status===`healthy`)??t[0]??e[0];this.#e.provider=n?.provider??``}#v(){return this.context.attention.state.adapters.find(({provider:e})=>e===this.#e.provider)}#y(){return g(this.#v())?`council`:`agent`}onKey(e){return e===`/`&&(this.querySelector(`main select, select, input`)?.focus(),!0)}async#b(e){e.preventDefault();let{body:t,errors:n}=v(this.#e,this.#y());if(this.#a=!0,this.#i=!0,this.#n=null,n.length>0)return this.#x();this.#o=!0,this.requestUpdate();try{let{taskId:e}=await this.context.api.call(`/api/v2/dispatch`,{method:`POST`,body:t});localStorage.setItem(this.#g(),this.#e.provider??``),u(c(e))}catch(e){this.#n=e instanceof d?e:new d(0,`unexpected`,String(e)),this.#t=this.#n.errors,await this.#x()}finally{this.#o=!1,this.requestUpdate()}}async#x(){this.requestUpdate(),await this.updateComplete,this.querySelector(`[aria-invalid=true]`)?.focus()}#S(e,t){return{valueOf:e=>this.#e[e]??``,faultOf:n=>{let r=e.find(({path:e})=>C(e,t)===n);return r===void 0||!(this.#a||this.#r.has(n))?``:_(n,r.message)},onEdit:(e,t)=>{this.#e[e]=t,this.#r.add(e),this.#i=!0,this.requestUpdate()}}}render(){if(!this.context.identity.scopes.includes(`dispatch`))return i`<h1>New task</h1><p class="note warning">Your token cannot dispatch tasks.</p>`;this.#_();let e=this.#v(),t=this.#y();t===`council`&&this.#h();let{body:r,errors:a}=v(this.#e,t),c=this.#S([...a,...this.#t],t),l=e=>p[C(e,t)??``]??null;return i`
      <h1>New task</h1>
      ${this.#w(l)}
      ${this.#f.length===0?s:i`<p class="note warning">Replace the masked secrets: ${n(this.#f.join(`, `))}.</p>`}
      <div class="dispatch-page">
        <form class="dispatch" @submit=${this.#b} novalidate>
          ${this.#T(c,e)} ${t===`council`?this.#O(c,e):this.#D(c,e)}
          ${this.#k(c,e,t)}
          <p class="actions wide">
            <button class="primary" type="submit" ?disabled=${this.#o}>Dispatch</button>
            ${this.#o?i`<span role="status">Sending …</span>`:s}
          </p>
        </form>
        <div class="dispatch-side">
          <bridge-dispatch-check
            .context=${this.context} .body=${this.#i?JSON.stringify(r):null} .nameOf=${l} .onErrors=${this.#C}
          ></bridge-dispatch-check>
          ${j(`As a command`,T(new URL(`api/v2/dispatch`,o).href,r),`Copy as curl`)}
          ${j(`As TypeScript`,w(o.href,r),`Copy as TypeScript`)}
        </div>
      </div>
    `}#C=e=>{this.#t=e,this.requestUpdate()};#w(e){if(this.#n===null||this.#n.errors.length===0)return l(this.#n);let t=this.#n.errors.filter(({path:t})=>e(t)===null);return i`${t.map(({path:e,message:t})=>i`<p class="note error" role="alert"><code>${n(e)}</code> ${n(t)}</p>`)}`}#T(e,t){let{adapters:r}=this.context.attention.state,a=r.map(({provider:e,health:t})=>{let n=t.status===`offline`;return{value:e,name:n?`${e} (offline)`:e,isDisabled:n&&e!==this.#e.provider}}),o=this.#e.agentId?.trim()??``,c=o===``||this.#c.includes(o)?`The task works in the directory of this agent. A new name creates one.`:`This is a new agent: the task creates its directory.`;return i`
      ${b({name:`provider`,type:a,none:r.length===0?`default`:null},e)}
      ${b({name:`agentId`,list:`agents`,hint:c},e)}
      <datalist id="agents">${this.#c.map(e=>i`<option value=${e}></option>`)}</datalist>
      ${t===void 0||t.health.status===`healthy`?s:i`<p class="note warning wide">${t.provider} is ${t.health.status}. ${n(t.health.detail??``)}</p>`}
    `}#E(e,t=``){return this.#u?.field===e?this.#u.reason:t}#D(e,t){let{approvals:n,outputStrategies:r=[]}=t?.capabilities??{};for(let e of h(t))this.#e[e]??=O[e]??``;return i`
      ${b({name:`message`,type:`area`,hint:this.#E(`message`,`What to do.`)},e)}
      ${h(t).map(t=>b({name:t,type:`area`,hint:`JSON`},e))}
      ${b({name:`profile`,type:A([`inspect`,`modify`]),hint:`inspect: read-only. modify: may edit files and run commands.`},e)}
      ${n===!0?b({name:`approvals`,type:A([`ask`,`deny`,`allow`])},e):s}
      ${b({name:`model`,hint:this.#E(`model`)},e)}
      ${b({name:`timeoutSeconds`,type:`number`,hint:this.#E(`timeoutSeconds`)},e)}
      ${r.length>1?b({name:`output`,type:A(r)},e):s}
      ${this.#e.output===`file`?b({name:`outputPath`},e):s}
      ${this.#e.output===`structured`?b({name:`outputSchema`,type:`area`,hint:this.#E(`outputSchema`)},e):s}
    `}#O(e,t){let{adapters:n}=this.context.attention.state;return i`
      ${S(e,{provider:t?.provider??``,adapters:n,domains:this.#l})}
      ${b({name:`timeoutSeconds`,type:`number`,hint:this.#E(`timeoutSeconds`)},e)}
    `}#k(e,t,n){let{sessionResume:r}=t?.capabilities??{};return i`<details class="wide">
      <summary>More fields</summary>
      <div class="dispatch">
        ${b({name:`taskId`,hint:`A repeated id refers to the same task.`},e)}
        ${r===!0?b({name:`resumeToken`},e):s}
        ${b({name:`callbackUrl`,type:`url`},e)} ${n===`council`?b({name:`model`},e):s}
        ${b({name:`systemPrompt`,type:`area`},e)} ${b({name:`metadata`,type:`area`,hint:`JSON object`},e)}
        ${n===`council`?b({name:`council.others`,type:`area`,hint:`JSON object, such as {"context_summary": "…"}`},e):s}
        ${b({name:`others`,type:`area`,hint:`JSON object`},e)}
      </div>
    </details>`}};const A=e=>e.map(e=>({value:e})),j=(e,t,r)=>i`<details>
    <summary>${e}</summary>
    <pre tabindex="0">${n(t)}</pre>
    ${y(t,r)}
  </details>`;customElements.define(`bridge-new`,k);