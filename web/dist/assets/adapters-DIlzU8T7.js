import{Q as e,X as t,c as n,d as r,f as i,l as a,r as o,x as s,y as c,z as l}from"./shared-Cl6XpTc0.js";import{m as u,r as d}from"./console-Bn6dMiTx.js";var f=class extends l{#e=()=>{};#t=null;#n=null;connectedCallback(){super.connectedCallback(),this.#e=this.context.attention.subscribe(()=>this.requestUpdate())}disconnectedCallback(){super.disconnectedCallback(),this.#e()}async#r(e){this.#t=e,this.#n=null,this.requestUpdate();let{api:t,attention:n}=this.context;try{await t.call(`/api/v2/adapters/${encodeURIComponent(e)}/check`,{method:`POST`})}catch(e){this.#n=e instanceof c?e:null}this.#t=null,n.refresh(),this.requestUpdate()}firstUpdated(){this.#i()}async#i(){location.hash!==``&&(await this.updateComplete,document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView())}render(){let{adapters:n,error:i,isLoaded:a}=this.context.attention.state,o=s();return e`
      <h1>Adapters</h1>
      ${r(i??this.#n)} ${a?t:e`<p role="status">Loading …</p>`}
      ${n.map(e=>p(e,o,this.#a(e)))}
      <p class="hint">
        <code>BRIDGE_ADAPTERS</code> lists the adapters. Bridge logs at its start which other installed programs it could run.
      </p>
    `}#a({provider:n}){if(!this.context.identity.scopes.includes(`manage`))return t;let r=this.#t===n?`Checking …`:`Check now`;return e`<button ?disabled=${this.#t!==null} @click=${()=>this.#r(n)} aria-label="${r}: ${n}">
      ${r}
    </button>`}};function p({provider:r,health:s,capabilities:c,running:l,queued:u,maxConcurrent:f,nodes:p},g,_){let{outputStrategies:v=[],inputs:y=[],...b}=c??{},x=Object.entries(b).filter(([,e])=>e===!0),S=s.detail!==null&&!s.preflight.some(({ok:e,detail:t})=>!e&&t.includes(s.detail??``));return e`<section class="adapter" aria-label=${r}>
    <div class="page-head">
      <h2 id=${r}>${r} ${i(s.status)}</h2>
      <p class="detail">
        ${[s.connection,s.version].map(e=>e===null?t:`${e} · `)}
        ${s.checkedAt===null?`not checked yet`:e`checked ${n(s.checkedAt,g)}`} ${_}
      </p>
    </div>
    ${S?e`<p class="note ${s.status===`healthy`?`info`:`warning`}">${d(s.detail??``)}</p>`:t}
    <p>
      <a href=${o(`tasks?provider=${encodeURIComponent(r)}&state=running&children=all`)}>${l} running</a> of ${f},
      <a href=${o(`tasks?provider=${encodeURIComponent(r)}&state=queued&children=all`)}>${u} queued</a>
      ${p.length>1?e`· nodes: ${p.join(`, `)}`:t}
    </p>
    ${s.preflight.length===0?t:e`<ul class="steps">
            ${s.preflight.map(({step:n,ok:r,detail:i})=>e`<li>
                ${r?a(`completed`,`✓`,n):a(`failed`,`✕`,n)} ${d(i)} ${r?t:h(i)}
              </li>`)}
          </ul>`}
    ${x.length===0?t:e`<p class="hint">
            ${x.map(([t])=>e`<span class="chip">${m(t)}</span> `)}
            <span class="chip">output: ${v.join(`, `)}</span>
            ${y.length===0?t:e`<span class="chip">input: ${y.join(`, `)}</span>`}
          </p>`}
  </section>`}const m=e=>e.replaceAll(/[A-Z]/g,e=>` ${e.toLowerCase()}`),h=e=>[...e.matchAll(/\bRun (?:`([^`]+)`|((?:npm|npx|apt-get) [^,`]+?))(?=[,`]|\.(?:\s|$))/g)].map(([,e=``,t=``])=>u(e+t,`Copy ${e}${t}`));customElements.define(`bridge-adapters`,f);