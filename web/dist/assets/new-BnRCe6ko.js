import{B as e,C as t,D as n,E as r,H as i,M as a,U as o,a as s,et as c,i as l,j as u,nt as d,p as f}from"./shared-C71ngRhu.js";import{S as p,_ as m,b as h,d as g,f as _,g as v,h as y,m as b,p as x,t as S,v as C,x as w,y as T}from"./console-Ds4iPE9S.js";function E(e,t){if(e.length===0)return c;let n=t.valueOf(`agentId`).trim(),r=e.length-12;return d`<div class="agent-choices" role="group" aria-labelledby="existing-agents">
    <span class="hint" id="existing-agents">Existing:</span>
    ${e.slice(0,12).map(e=>d`<button type="button" tabindex="-1" aria-pressed=${e===n} @click=${()=>t.onEdit(`agentId`,e)}>${e}</button>`)}
    ${r>0?d`<span class="hint">${r} more: type the name</span>`:c}
  </div>`}var D=class extends i{static properties={context:{attribute:!1},body:{attribute:!1},nameOf:{attribute:!1},onCheck:{attribute:!1}};#e=null;#t=null;#n;#r=null;disconnectedCallback(){super.disconnectedCallback(),clearTimeout(this.#n),this.#r?.abort()}willUpdate(e){e.has(`body`)&&this.body!==null&&(clearTimeout(this.#n),this.#n=setTimeout(()=>void this.#i(this.body??`{}`),500))}async#i(e){this.#r?.abort(),this.#r=new AbortController;let{signal:r}=this.#r;try{let t=n(e);this.#e=await this.context.api.call(`/api/v2/dispatch/check`,{method:`POST`,body:t,signal:r}),this.#t=null,this.onCheck(this.#e,t)}catch(e){if(r.aborted)return;this.#t=e instanceof t?e:new t(0,`unexpected`,String(e))}this.requestUpdate()}render(){return d`<section class="panel check" aria-labelledby="check" aria-live="polite">
      <h2 id="check">What the dispatch would do</h2>
      ${f(this.#t)} ${this.#a()}
    </section>`}#a(){if(this.body===null)return d`<p class="empty">Fill in the form to see it here, before anything starts.</p>`;if(this.#e===null)return d`<p class="empty">Checking …</p>`;let{problem:e,task:t}=this.#e;return t===null?this.#o(e):O(t)}#o(t){let n=t?.errors??[],r=new Set(n.map(({path:e})=>this.nameOf(e)).filter(e=>e!==null)),i=n.filter(({path:e})=>this.nameOf(e)===null);return n.length===0?d`<p class="note warning">${e(t?.detail??`Bridge would reject it.`)}</p>`:d`${r.size===0?``:d`<p class="empty">To complete: ${[...r].join(`, `)}.</p>`}
      ${i.map(({path:t,message:n})=>d`<p class="note warning"><code>${e(t)}</code> ${e(n)}</p>`)}`}};function O(t){if(t.replayed)return d`<p class="note info">It starts nothing, because a task with this id and content exists.</p>`;let{resolved:n,queueAhead:r,council:i=null}=t,o=[[`Adapter`,`${t.provider}${t.connection===null?``:` · ${t.connection}`}`],...i===null?[[`Model`,n.model??`default of the runtime`]]:[],[`Profile`,n.profile],[`Approvals`,n.approvals],[`Time limit`,a(n.timeoutSeconds*1e3)],[`Queued before it`,u(r)]];return d`<dl class="check-facts">
      ${o.map(([t,n])=>d`<div><dt>${t}</dt><dd>${e(n)}</dd></div>`)}
    </dl>
    ${i===null?c:k(i)}
    ${t.warnings.map(t=>d`<p class="note warning">${e(t)}</p>`)}`}function k({roles:t,runtimes:n}){let r=n.length>1;return d`<section class="check-council" aria-labelledby="council">
    <h3 id="council">Who answers</h3>
    <ul>
      ${t.map(({title:t,domain:n})=>d`<li>${e(t)} <span class="detail">${e(n)}</span></li>`)}
    </ul>
    <p class="detail">${r?`Each role runs on each of these runtimes:`:`Each role runs on:`}</p>
    <ul>
      ${n.map(({provider:t,models:n,fault:r})=>d`<li>
          ${e(t)} <span class="detail">${e(n.length===0?`default model`:n.join(`, `))}</span>
          ${r===null?c:d`<span class="fault">does not answer: ${e(r)}</span>`}
        </li>`)}
    </ul>
  </section>`}customElements.define(`bridge-dispatch-check`,D);const A={responderInput:`{
  "tool": "",
  "describe": ""
}`};var j=class extends o{#e={};#t=[];#n=null;#r=/* @__PURE__ */ new Set;#i=!1;#a=!1;#o=!1;#s=!0;#c=[];#l=[];#u={};#d=null;#f;#p=[];#m=()=>{};connectedCallback(){super.connectedCallback(),this.#m=this.context.attention.subscribe(()=>this.requestUpdate());let e=this.route.query.get(`agentId`);e!==null&&(this.#e.agentId=e),this.#h()}disconnectedCallback(){super.disconnectedCallback(),this.#m()}async#h(){let{api:e}=this.context,n=this.route.query.get(`from`);try{if(n!==null){let t=`/api/v2/tasks/${encodeURIComponent(n)}`,[{request:r,masked:i},a]=await Promise.all([e.call(`${t}/request`),e.call(t)]);this.#e=w(r),this.#d=S(a,this.#e),this.#d?.value!==void 0&&(this.#e[this.#d.field]=this.#d.value),this.#p=i,this.#i=!0}this.#s=!1,this.requestUpdate();let{data:t}=await e.list(`/api/v2/agents`,{limit:200});this.#c=t.map(({agentId:e})=>e)}catch(e){this.#n=e instanceof t?e:null}this.#s=!1,this.requestUpdate()}async#g(){let e=this.#e.agentId?.trim()??``,t=this.#c.includes(e)?e:``;if(t===this.#f)return;this.#f=t;let n=await this.context.api.list(`/api/v2/domains`,{limit:200,workspace:t}).catch(()=>null);n!==null&&this.#f===t&&(this.#l=n.data),this.requestUpdate()}#_(){return`bridge.adapter.${this.context.identity.tenant}`}#v(){let{adapters:e}=this.context.attention.state;if(this.#s||(this.#e.provider??``)!==``||e.length===0)return;let t=e.filter(({health:e})=>e.status!==`offline`),n=t.find(({provider:e})=>e===localStorage.getItem(this.#_()))??t.find(({health:e})=>e.status===`healthy`)??t[0]??e[0];this.#e.provider=n?.provider??``}#y(){return this.context.attention.state.adapters.find(({provider:e})=>e===this.#e.provider)}#b(){return x(this.#y())?`council`:`agent`}onKey(e){return e===`/`&&(this.querySelector(`main select, select, input`)?.focus(),!0)}async#x(e){e.preventDefault();let{body:n,errors:r}=v(this.#e,this.#b());if(this.#a=!0,this.#i=!0,this.#n=null,r.length>0)return this.#S();this.#o=!0,this.requestUpdate();try{let{taskId:e}=await this.context.api.call(`/api/v2/dispatch`,{method:`POST`,body:n});localStorage.setItem(this.#_(),this.#e.provider??``),l(s(e))}catch(e){this.#n=e instanceof t?e:new t(0,`unexpected`,String(e)),this.#t=this.#n.errors,await this.#S()}finally{this.#o=!1,this.requestUpdate()}}async#S(){this.requestUpdate(),await this.updateComplete,this.querySelector(`[aria-invalid=true]`)?.focus()}#C(e,t){return{valueOf:e=>this.#e[e]??``,faultOf:n=>{let r=e.find(({path:e})=>T(e,t)===n);return r===void 0||!(this.#a||this.#r.has(n))?``:m(n,r.message)},onEdit:(e,t)=>{this.#e[e]=t,(e===`provider`||e===`agentId`)&&(this.#u={}),this.#r.add(e),this.#i=!0,this.requestUpdate()}}}render(){if(!this.context.identity.scopes.includes(`dispatch`))return d`<h1>New task</h1><p class="note warning">Your token cannot dispatch tasks.</p>`;this.#v();let t=this.#y(),n=this.#b();n===`council`&&this.#g();let{body:i,errors:a}=v(this.#e,n),o=this.#C([...a,...this.#t],n),s=e=>C[T(e,n)??``]??null;return d`
      <h1>New task</h1>
      ${this.#E(s)}
      ${this.#p.length===0?c:d`<p class="note warning">Replace the masked secrets: ${e(this.#p.join(`, `))}.</p>`}
      <div class="dispatch-page">
        <form class="dispatch" @submit=${this.#x} @keydown=${this.#w} novalidate>
          ${this.#D(o,t)} ${n===`council`?this.#j(o,t):this.#A(o,t)}
          ${this.#M(o,t,n)}
          <p class="actions wide">
            <button class="primary" type="submit" ?disabled=${this.#o} aria-keyshortcuts="Control+Enter Meta+Enter">Dispatch</button>
            <span class="hint" aria-hidden="true"><kbd>Ctrl Enter</kbd></span>
            ${this.#o?d`<span role="status">Sending …</span>`:c}
          </p>
        </form>
        <div class="dispatch-side">
          <bridge-dispatch-check
            .context=${this.context} .body=${this.#i?JSON.stringify(i):null} .nameOf=${s} .onCheck=${this.#T}
          ></bridge-dispatch-check>
          ${N(`As a command`,h(new URL(`api/v2/dispatch`,r).href,i),`Copy as curl`)}
          ${N(`As TypeScript`,p(r.href,i),`Copy as TypeScript`)}
        </div>
      </div>
    `}#w=e=>{e.key!==`Enter`||!(e.ctrlKey||e.metaKey)||this.#o||(e.preventDefault(),e.currentTarget.requestSubmit())};#T=({problem:e,task:t},n)=>{this.#t=e?.errors??[];let r=Object.entries(t?.resolved??{}).filter(([e])=>n[e]===void 0);this.#u={...this.#u,...Object.fromEntries(r)},this.requestUpdate()};#E(t){if(this.#n===null||this.#n.errors.length===0)return f(this.#n);let n=this.#n.errors.filter(({path:e})=>t(e)===null);return d`${n.map(({path:t,message:n})=>d`<p class="note error" role="alert"><code>${e(t)}</code> ${e(n)}</p>`)}`}#D(t,n){let{adapters:r}=this.context.attention.state,i=r.map(({provider:e,health:t})=>{let n=t.status===`offline`;return{value:e,name:n?`${e} (offline)`:e,isDisabled:n&&e!==this.#e.provider}}),a=this.#e.agentId?.trim()??``,o=a===``||this.#c.includes(a)?`The task works in the directory of this agent. A new name creates one.`:`This is a new agent: the task creates its directory.`;return d`
      ${b({name:`provider`,type:i,none:r.length===0?`default`:null},t)}
      <div>${b({name:`agentId`,list:`agents`,hint:o},t)} ${E(this.#c,t)}</div>
      <datalist id="agents">${this.#c.map(e=>d`<option value=${e}></option>`)}</datalist>
      ${n===void 0||n.health.status===`healthy`?c:d`<p class="note warning wide">${n.provider} is ${n.health.status}. ${e(n.health.detail??``)}</p>`}
    `}#O(e){return this.#d?.field===e?this.#d.reason:``}#k(e){let t=this.#u[e];return t==null?``:String(t)}#A(e,t){let{approvals:n,outputStrategies:r=[]}=t?.capabilities??{};for(let e of _(t))this.#e[e]??=A[e]??``;return d`
      ${b({name:`message`,type:`area`,hint:this.#O(`message`)},e)}
      ${_(t).map(t=>b({name:t,type:`area`,hint:`JSON`},e))}
      ${b({name:`profile`,type:M([`inspect`,`modify`]),usual:this.#k(`profile`),hint:`inspect: read-only. modify: may edit files and run commands.`},e)}
      ${n===!0?b({name:`approvals`,type:M([`ask`,`deny`,`allow`]),usual:this.#k(`approvals`)},e):c}
      ${b({name:`model`,usual:this.#k(`model`),hint:this.#O(`model`)},e)}
      ${b({name:`timeoutSeconds`,type:`number`,usual:this.#k(`timeoutSeconds`),hint:this.#O(`timeoutSeconds`)},e)}
      ${r.length>1?b({name:`output`,type:M(r)},e):c}
      ${this.#e.output===`file`?b({name:`outputPath`},e):c}
      ${this.#e.output===`structured`?b({name:`outputSchema`,type:`area`,hint:this.#O(`outputSchema`)},e):c}
    `}#j(e,t){let{adapters:n}=this.context.attention.state;return d`
      ${g(e,{provider:t?.provider??``,adapters:n,domains:this.#l,usualOf:e=>this.#k(e),hintOf:e=>this.#O(e)})}
    `}#M(e,t,n){let{sessionResume:r}=t?.capabilities??{};return d`<details class="wide">
      <summary>More fields</summary>
      <div class="dispatch">
        ${b({name:`taskId`,hint:`A repeated id refers to the same task.`},e)}
        ${r===!0?b({name:`resumeToken`},e):c}
        ${b({name:`callbackUrl`,type:`url`},e)} ${n===`council`?b({name:`model`},e):c}
        ${b({name:`systemPrompt`,type:`area`},e)} ${b({name:`metadata`,type:`area`,hint:`JSON object`},e)}
        ${n===`council`?b({name:`council.others`,type:`area`,hint:`JSON object, such as {"context_summary": "…"}`},e):c}
        ${b({name:`others`,type:`area`,hint:`JSON object`},e)}
      </div>
    </details>`}};const M=e=>e.map(e=>({value:e})),N=(t,n,r)=>d`<details>
    <summary>${t}</summary>
    <pre tabindex="0">${e(n)}</pre>
    ${y(n,r)}
  </details>`;customElements.define(`bridge-new`,j);