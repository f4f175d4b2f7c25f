import{Q as e,S as t,X as n,b as r,f as i,i as a,l as o,p as s,u as c,z as l}from"./shared-Cc4RnNdl.js";import{m as u,r as d}from"./console-Dbg5I0TD.js";var f=class extends l{#e=()=>{};#t=null;#n=null;connectedCallback(){super.connectedCallback(),this.#e=this.context.attention.subscribe(()=>this.requestUpdate())}disconnectedCallback(){super.disconnectedCallback(),this.#e()}async#r(e){this.#t=e,this.#n=null,this.requestUpdate();let{api:t,attention:n}=this.context;try{await t.call(`/api/v2/adapters/${encodeURIComponent(e)}/check`,{method:`POST`})}catch(e){this.#n=e instanceof r?e:null}this.#t=null,n.refresh(),this.requestUpdate()}firstUpdated(){this.#i()}async#i(){location.hash!==``&&(await this.updateComplete,document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView())}render(){let{adapters:r,error:a,isLoaded:o}=this.context.attention.state,s=t();return e`
      <h1>Adapters</h1>
      ${i(a??this.#n)} ${o?n:e`<p role="status">Loading …</p>`}
      ${r.map(e=>p(e,s,this.#a(e)))}
      <p class="hint">
        <code>BRIDGE_ADAPTERS</code> lists the adapters. Bridge logs at its start which other installed programs it could run.
      </p>
    `}#a({provider:t}){if(!this.context.identity.scopes.includes(`manage`))return n;let r=this.#t===t?`Checking …`:`Check now`;return e`<button ?disabled=${this.#t!==null} @click=${()=>this.#r(t)} aria-label="${r}: ${t}">
      ${r}
    </button>`}};function p({provider:t,health:r,capabilities:i,running:l,queued:u,maxConcurrent:f,nodes:p},g,_){let{outputStrategies:v=[],inputs:y=[],...b}=i??{},x=Object.entries(b).filter(([,e])=>e===!0),S=r.detail!==null&&!r.preflight.some(({ok:e,detail:t})=>!e&&t.includes(r.detail??``));return e`<section class="adapter" aria-label=${t}>
    <div class="page-head">
      <h2 id=${t}>${t} ${s(r.status)}</h2>
      <p class="detail">
        ${[r.connection,r.version].map(e=>e===null?n:`${e} · `)}
        ${r.checkedAt===null?`not checked yet`:e`checked ${o(r.checkedAt,g)}`} ${_}
      </p>
    </div>
    ${S?e`<p class="note ${r.status===`healthy`?`info`:`warning`}">${d(r.detail??``)}</p>`:n}
    <p>
      <a href=${a(`tasks?provider=${encodeURIComponent(t)}&state=running`)}>${l} running</a> of ${f},
      <a href=${a(`tasks?provider=${encodeURIComponent(t)}&state=queued`)}>${u} queued</a>
      ${p.length>1?e`· nodes: ${p.join(`, `)}`:n}
    </p>
    ${r.preflight.length===0?n:e`<ul class="steps">
            ${r.preflight.map(({step:t,ok:r,detail:i})=>e`<li>
                ${r?c(`completed`,`✓`,t):c(`failed`,`✕`,t)} ${d(i)} ${r?n:h(i)}
              </li>`)}
          </ul>`}
    ${x.length===0?n:e`<p class="hint">
            ${x.map(([t])=>e`<span class="chip">${m(t)}</span> `)}
            <span class="chip">output: ${v.join(`, `)}</span>
            ${y.length===0?n:e`<span class="chip">input: ${y.join(`, `)}</span>`}
          </p>`}
  </section>`}const m=e=>e.replaceAll(/[A-Z]/g,e=>` ${e.toLowerCase()}`),h=e=>[...e.matchAll(/\bRun (?:`([^`]+)`|((?:npm|npx|apt-get) [^,`]+?))(?=[,`]|\.(?:\s|$))/g)].map(([,e=``,t=``])=>u(e+t,`Copy ${e}${t}`));customElements.define(`bridge-adapters`,f);