import{B as e,C as t,T as n,U as r,d as i,et as a,m as o,nt as s,p as c,r as l,u}from"./shared-C71ngRhu.js";import{h as d,i as f}from"./console-Ds4iPE9S.js";const p=/^(acp|cli|api|http-api|mcp|native-dispatch|in-process): (.*)$/s;function m({provider:e,health:t},n){let{status:r,detail:i,preflight:a}=t,o=({step:e})=>e.endsWith(` connection`),s=({step:t})=>t!==e&&n.has(t),c=r===`offline`,l=a.filter(o),u=a.filter(e=>!o(e)&&!s(e)),d=c?[...new Set(l.filter(({ok:e})=>!e).map(e=>h(e).detail))]:[],f=u.filter(({ok:e})=>!e),p=a.filter(s).map(({step:e,ok:t,detail:n})=>({provider:e,ok:t,detail:t?n:null}));return{note:d.length>0||a.some(e=>!e.ok&&e.detail.includes(i??``))||p.length>0?null:i,remedies:d,faults:f,runtimes:p,others:[...c?[]:l.map(h),...u.filter(({ok:e})=>e)]}}function h({ok:e,detail:t}){let[,n=`program`,r=t]=p.exec(t)??[];return{step:n,ok:e,detail:r}}var g=class extends r{#e=()=>{};#t=null;#n=null;#r=``;connectedCallback(){super.connectedCallback(),this.#e=this.context.attention.subscribe(()=>this.requestUpdate())}disconnectedCallback(){super.disconnectedCallback(),this.#e()}async#i(e){this.#t=e,this.#n=null,this.requestUpdate();let{api:n,attention:r}=this.context;try{await n.call(`/api/v2/adapters/${encodeURIComponent(e)}/check`,{method:`POST`})}catch(e){this.#n=e instanceof t?e:null}this.#t=null,r.refresh(),this.requestUpdate()}updated(){if(location.hash===this.#r)return;let e=document.getElementById(decodeURIComponent(location.hash.slice(1)));e!==null&&(this.#r=location.hash,e.scrollIntoView())}render(){let{adapters:e,error:t,isLoaded:r}=this.context.attention.state,i=n(),o=new Set(e.map(({provider:e})=>e));return s`
      <h1>Adapters</h1>
      ${c(t??this.#n)} ${r?a:s`<p role="status">Loading …</p>`}
      ${e.map(e=>_(e,o,i,this.#a(e)))}
      <p class="hint">
        <code>BRIDGE_ADAPTERS</code> lists the adapters. Bridge logs at its start which other installed programs it could run.
      </p>
    `}#a({provider:e}){if(!this.context.identity.scopes.includes(`manage`))return a;let t=this.#t===e?`Checking …`:`Check now`;return s`<button ?disabled=${this.#t!==null} @click=${()=>this.#i(e)} aria-label="${t}: ${e}">
      ${t}
    </button>`}};function _(e,t,n,r){let{provider:i,health:c,running:d,queued:f,maxConcurrent:p,nodes:h}=e,{note:g,remedies:_,faults:C,runtimes:w,others:E}=m(e,t);return s`<section class="adapter" aria-label=${i}>
    <div class="page-head">
      <h2 id=${i}>${i} ${o(c.status)}</h2>
      <p class="detail">${c.checkedAt===null?`not checked yet`:s`checked ${u(c.checkedAt,n)}`} ${r}</p>
    </div>
    ${v(c)}
    ${g===null?a:s`<p class="note ${c.status===`healthy`?`info`:`warning`}">${T(g)}</p>`}
    ${_.length===0?a:y(_)}
    ${C.map(({step:e,detail:t})=>s`<p class="note warning"><strong>${e}</strong> ${T(t)}</p>`)}
    ${w.length===0?a:s`<ul class="steps">${w.map(b)}</ul>`}
    <p>
      <a href=${l(`tasks?provider=${encodeURIComponent(i)}&state=running&children=all`)}>${d} running</a> of ${p},
      <a href=${l(`tasks?provider=${encodeURIComponent(i)}&state=queued&children=all`)}>${f} queued</a>
      ${h.length>1?s`· nodes: ${h.join(`, `)}`:a}
    </p>
    ${S(e)} ${E.length===0?a:x(E)}
  </section>`}function v({path:t=null,version:n,connection:r}){if(r===null)return a;let i=[...n===null?[]:[n],`connection ${r}`];return s`<p>${t===null?a:s`<code>${e(t)}</code> <span class="detail">·</span> `}<span class="detail">${i.join(` · `)}</span></p>`}const y=e=>s`<div class="note warning">
  ${e.length>1?s`<p>One of these is enough:</p>`:a}
  <ul class="remedies">
    ${e.map(e=>s`<li>${T(e)}</li>`)}
  </ul>
</div>`,b=({provider:e,ok:t,detail:n})=>s`<li>
  ${t?i(`completed`,`✓`,e):i(`failed`,`✕`,e)}
  ${n===null?s`<a href=${l(`adapters#${encodeURIComponent(e)}`)}>See why ${e} is offline</a>`:f(n)}
</li>`,x=e=>s`<details>
  <summary>Details of the check</summary>
  <dl class="check-facts">
    ${e.map(({step:e,ok:t,detail:n})=>s`<div><dt>${e}${t?a:` (not used)`}</dt><dd>${T(n)}</dd></div>`)}
  </dl>
</details>`;function S({capabilities:e}){let{outputStrategies:t=[],inputs:n=[],...r}=e??{},i=Object.entries(r).filter(([,e])=>e===!0);return i.length===0?a:s`<p class="hint">
    ${i.map(([e])=>s`<span class="chip">${C(e)}</span> `)}
    <span class="chip">output: ${t.join(`, `)}</span>
    ${n.length===0?a:s`<span class="chip">input: ${n.join(`, `)}</span>`}
  </p>`}const C=e=>e.replaceAll(/[A-Z]/g,e=>` ${e.toLowerCase()}`),w=/(?<=\bRun )(?:`[^`]+`|(?:npm|npx|apt-get) [^,`]+?)(?=[,`]|\.(?:\s|$)|$)/;function T(t){let[n]=w.exec(t)??[];if(n===void 0)return s`${f(t)}`;let r=n.replaceAll("`",``),[i=``,...a]=t.split(n);return s`${f(i)}<code>${e(r)}</code> ${d(r)}${f(a.join(n))}`}customElements.define(`bridge-adapters`,g);