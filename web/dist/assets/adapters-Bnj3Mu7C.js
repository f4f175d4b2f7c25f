import{R as e,Y as t,Z as n,f as r,i,l as a,p as o,u as s,x as c,y as l}from"./shared-oU8rKXRd.js";import{f as u,n as d}from"./console-BGSthDAd.js";var f=class extends e{#e=()=>{};#t=null;#n=null;connectedCallback(){super.connectedCallback(),this.#e=this.context.attention.subscribe(()=>this.requestUpdate())}disconnectedCallback(){super.disconnectedCallback(),this.#e()}async#r(e){this.#t=e,this.#n=null,this.requestUpdate();let{api:t,attention:n}=this.context;try{await t.call(`/api/v2/adapters/${encodeURIComponent(e)}/check`,{method:`POST`})}catch(e){this.#n=e instanceof l?e:null}this.#t=null,n.refresh(),this.requestUpdate()}firstUpdated(){this.#i()}async#i(){location.hash!==``&&(await this.updateComplete,document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView())}render(){let{adapters:e,error:i,isLoaded:a}=this.context.attention.state,o=c();return n`
      <h1>Adapters</h1>
      ${r(i??this.#n)} ${a?t:n`<p role="status">Loading …</p>`}
      ${e.map(e=>p(e,o,this.#a(e)))}
      <p class="hint">
        <code>BRIDGE_ADAPTERS</code> lists the adapters. Bridge logs at its start which other installed programs it could run.
      </p>
    `}#a({provider:e}){if(!this.context.identity.scopes.includes(`manage`))return t;let r=this.#t===e?`Checking …`:`Check now`;return n`<button ?disabled=${this.#t!==null} @click=${()=>this.#r(e)} aria-label="${r}: ${e}">
      ${r}
    </button>`}};function p({provider:e,health:r,capabilities:c,running:l,queued:u,maxConcurrent:f,nodes:p},g,_){let{outputStrategies:v=[],inputs:y=[],...b}=c??{},x=Object.entries(b).filter(([,e])=>e===!0),S=r.detail!==null&&!r.preflight.some(({ok:e,detail:t})=>!e&&t.includes(r.detail??``));return n`<section class="adapter" aria-label=${e}>
    <div class="page-head">
      <h2 id=${e}>${e} ${o(r.status)}</h2>
      <p class="detail">
        ${[r.connection,r.version].map(e=>e===null?t:`${e} · `)}
        ${r.checkedAt===null?`not checked yet`:n`checked ${a(r.checkedAt,g)}`} ${_}
      </p>
    </div>
    ${S?n`<p class="note ${r.status===`healthy`?`info`:`warning`}">${d(r.detail??``)}</p>`:t}
    <p>
      <a href=${i(`tasks?provider=${encodeURIComponent(e)}&state=running`)}>${l} running</a> of ${f},
      <a href=${i(`tasks?provider=${encodeURIComponent(e)}&state=queued`)}>${u} queued</a>
      ${p.length>1?n`· nodes: ${p.join(`, `)}`:t}
    </p>
    ${r.preflight.length===0?t:n`<ul class="steps">
            ${r.preflight.map(({step:e,ok:r,detail:i})=>n`<li>
                ${r?s(`completed`,`✓`,e):s(`failed`,`✕`,e)} ${d(i)} ${r?t:h(i)}
              </li>`)}
          </ul>`}
    ${x.length===0?t:n`<p class="hint">
            ${x.map(([e])=>n`<span class="chip">${m(e)}</span> `)}
            <span class="chip">output: ${v.join(`, `)}</span>
            ${y.length===0?t:n`<span class="chip">input: ${y.join(`, `)}</span>`}
          </p>`}
  </section>`}const m=e=>e.replaceAll(/[A-Z]/g,e=>` ${e.toLowerCase()}`),h=e=>[...e.matchAll(/\bRun (?:`([^`]+)`|((?:npm|npx|apt-get) [^,`]+?))(?=[,`]|\.(?:\s|$))/g)].map(([,e=``,t=``])=>u(e+t,`Copy ${e}${t}`));customElements.define(`bridge-adapters`,f);