import{C as e,T as t,U as n,d as r,et as i,m as a,nt as o,p as s,r as c,u as l}from"./shared-NBIuJExs.js";import{m as u,r as d}from"./console-CJntOXG9.js";var f=class extends n{#e=()=>{};#t=null;#n=null;connectedCallback(){super.connectedCallback(),this.#e=this.context.attention.subscribe(()=>this.requestUpdate())}disconnectedCallback(){super.disconnectedCallback(),this.#e()}async#r(t){this.#t=t,this.#n=null,this.requestUpdate();let{api:n,attention:r}=this.context;try{await n.call(`/api/v2/adapters/${encodeURIComponent(t)}/check`,{method:`POST`})}catch(t){this.#n=t instanceof e?t:null}this.#t=null,r.refresh(),this.requestUpdate()}firstUpdated(){this.#i()}async#i(){location.hash!==``&&(await this.updateComplete,document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView())}render(){let{adapters:e,error:n,isLoaded:r}=this.context.attention.state,a=t();return o`
      <h1>Adapters</h1>
      ${s(n??this.#n)} ${r?i:o`<p role="status">Loading …</p>`}
      ${e.map(e=>p(e,a,this.#a(e)))}
      <p class="hint">
        <code>BRIDGE_ADAPTERS</code> lists the adapters. Bridge logs at its start which other installed programs it could run.
      </p>
    `}#a({provider:e}){if(!this.context.identity.scopes.includes(`manage`))return i;let t=this.#t===e?`Checking …`:`Check now`;return o`<button ?disabled=${this.#t!==null} @click=${()=>this.#r(e)} aria-label="${t}: ${e}">
      ${t}
    </button>`}};function p({provider:e,health:t,capabilities:n,running:s,queued:u,maxConcurrent:f,nodes:p},m,v){let{outputStrategies:y=[],inputs:b=[],...x}=n??{},S=Object.entries(x).filter(([,e])=>e===!0),C=t.detail!==null&&!t.preflight.some(({ok:e,detail:n})=>!e&&n.includes(t.detail??``));return o`<section class="adapter" aria-label=${e}>
    <div class="page-head">
      <h2 id=${e}>${e} ${a(t.status)}</h2>
      <p class="detail">
        ${[t.connection,t.version].map(e=>e===null?i:`${e} · `)}
        ${t.checkedAt===null?`not checked yet`:o`checked ${l(t.checkedAt,m)}`} ${v}
      </p>
    </div>
    ${C?o`<p class="note ${t.status===`healthy`?`info`:`warning`}">${d(t.detail??``)}</p>`:i}
    <p>
      <a href=${c(`tasks?provider=${encodeURIComponent(e)}&state=running&children=all`)}>${s} running</a> of ${f},
      <a href=${c(`tasks?provider=${encodeURIComponent(e)}&state=queued&children=all`)}>${u} queued</a>
      ${p.length>1?o`· nodes: ${p.join(`, `)}`:i}
    </p>
    ${t.preflight.length===0?i:o`<ul class="steps">
            ${t.preflight.map(({step:e,ok:t,detail:n})=>o`<li>
                ${t?r(`completed`,`✓`,h(e)):r(`failed`,`✕`,h(e))} ${d(n)} ${t?i:_(n)}
              </li>`)}
          </ul>`}
    ${S.length===0?i:o`<p class="hint">
            ${S.map(([e])=>o`<span class="chip">${g(e)}</span> `)}
            <span class="chip">output: ${y.join(`, `)}</span>
            ${b.length===0?i:o`<span class="chip">input: ${b.join(`, `)}</span>`}
          </p>`}
  </section>`}const m={"primary connection":`program or service`,"secondary connection":`second choice`,"tertiary connection":`third choice`,"further connection":`another choice`},h=e=>m[e]??e,g=e=>e.replaceAll(/[A-Z]/g,e=>` ${e.toLowerCase()}`),_=e=>[...e.matchAll(/\bRun (?:`([^`]+)`|((?:npm|npx|apt-get) [^,`]+?))(?=[,`]|\.(?:\s|$))/g)].map(([,e=``,t=``])=>u(e+t,`Copy ${e}${t}`));customElements.define(`bridge-adapters`,f);