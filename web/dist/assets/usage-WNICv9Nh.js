import{A as e,D as t,E as n,F as r,O as i,P as a,R as o,Y as s,Z as c,a as l,f as u,i as d,x as f}from"./shared-oU8rKXRd.js";import{S as p,a as m,i as h,o as g,r as _,s as v}from"./console-BGSthDAd.js";
/**
* @license lucide v1.65.0 - ISC
*
* This source code is licensed under the ISC license.
* See the LICENSE file in the root directory of this source tree.
*/
const y=[[`path`,{d:`M8 2v3`}],[`path`,{d:`M16 2v3`}],[`rect`,{x:`3`,y:`3`,width:`18`,height:`18`,rx:`2`}],[`path`,{d:`M3 9h18`}],[`path`,{d:`M8 13h.01`}],[`path`,{d:`M12 13h.01`}],[`path`,{d:`M16 13h.01`}],[`path`,{d:`M8 17h.01`}],[`path`,{d:`M12 17h.01`}],[`path`,{d:`M16 17h.01`}]],b=[`today`,`yesterday`,`7d`,`30d`,`90d`,`365d`],x={today:`Today`,yesterday:`Yesterday`,"7d":`7 days`,"30d":`30 days`,"90d":`90 days`,"365d":`365 days`},S=/^\d{4}-\d{2}-\d{2}$/;function C(e){let[t,n]=[`from`,`to`].map(t=>e.get(t)??``);if(t!==void 0&&n!==void 0&&k(t)){let e=k(n)?n:t;return t<=e?{from:t,to:e}:{from:e,to:t}}return b.find(t=>t===e.get(`window`))??`today`}const w=e=>typeof e==`string`?{window:e}:{...e};function T(e,t){let n=new Date(t),r=e=>new Date(n.getFullYear(),n.getMonth(),n.getDate()-e);if(e===`today`)return{from:r(0),to:null,days:1};if(e===`yesterday`)return{from:r(1),to:r(0),days:1};if(typeof e==`string`){let t=Number.parseInt(e,10);return{from:r(t-1),to:null,days:t}}let[i,a]=[O(e.from),O(e.to)],o=new Date(a.getFullYear(),a.getMonth(),a.getDate()+1);return{from:i,to:o,days:Math.round((o.getTime()-i.getTime())/864e5)}}function E(e){let t=new Date(Date.parse(e)+432e5);return D(t)}const D=e=>[e.getFullYear(),e.getMonth()+1,e.getDate()].map(e=>String(e).padStart(2,`0`)).join(`-`);function O(e){let[t=0,n=1,r=1]=e.split(`-`).map(Number);return new Date(t,n-1,r)}const k=e=>S.test(e)&&D(O(e))===e,A=new Intl.DateTimeFormat([],{dateStyle:`medium`});function j(e,t){let{from:n,to:r}=T(e,t);return A.formatRange(n,r===null?new Date(t):/* @__PURE__ */ new Date(r.getTime()-1))}const M=[`today`,`yesterday`,`7d`,`30d`],N=[`90d`,`365d`];function P(e,{toLink:t,now:n}){let r=(n,r)=>c`<a class=${r} href=${t(n)} aria-current=${n===e?`true`:s}>${x[n]}</a>`,i=typeof e!=`string`||N.includes(e),a=typeof e==`string`?x[e]:e.from===e.to?e.from:`${e.from} – ${e.to}`,o=typeof e==`string`?{from:``,to:``}:e,u=e=>e.currentTarget.closest(`details`)?.removeAttribute(`open`);return c`<div class="range-picker">
    <nav class="tabs" aria-label="Range">${M.map(e=>r(e,`tab`))}</nav>
    <details class="menu" @focusout=${e=>{e.currentTarget.contains(e.relatedTarget)||u(e)}} @keydown=${e=>{e.key===`Escape`&&(u(e),e.currentTarget.querySelector(`summary`)?.focus())}}>
      <summary class=${i?`used`:``}>${_(y)} <span class=${i?``:`range-word`}>${i?a:`Range`}</span></summary>
      <div class="range-panel" tabindex="-1">
        <p class="tabs" @click=${u}>${N.map(e=>r(e,`tab`))}</p>
        <form @submit=${e=>{e.preventDefault();let n=new FormData(e.currentTarget),[r,i]=[`from`,`to`].map(e=>String(n.get(e)??``));r!==void 0&&r!==``&&(u(e),l(t({from:r,to:i===void 0||i===``?r:i})))}}>
          <label>From <input type="date" name="from" .value=${o.from} max=${D(new Date(n))} required /></label>
          <label>To <input type="date" name="to" .value=${o.to} max=${D(new Date(n))} /></label>
          <button class="primary" type="submit">Show</button>
        </form>
      </div>
    </details>
  </div>`}const F=3600,I=[`agent`,`provider`,`model`,`label`,`day`,`hour`],L={agent:`Agent`,provider:`Adapter`,model:`Model`,label:`Label`,day:`Day`,hour:`Hour`},R={tasks:`Tasks`,cost:`Cost`,tokens:`Tokens`};var z=class extends o{#e=-1;#t=[];#n=()=>{};#r=matchMedia(`(prefers-color-scheme: dark)`);#i=()=>void this.#c();#a=p(this,e=>this.#s(e),{intervalMs:()=>15e3});connectedCallback(){super.connectedCallback(),this.#r.addEventListener(`change`,this.#i)}disconnectedCallback(){super.disconnectedCallback(),this.#r.removeEventListener(`change`,this.#i),this.#n()}#o(){let{query:e}=this.route,t=C(e),n=I.find(t=>t===e.get(`by`))??`agent`,r=v.find(t=>t===e.get(`show`))??`tasks`;return{range:t,by:n===`hour`&&T(t,f()).days>30?`day`:n,show:r}}async#s(e){let t=this.#o(),{range:n,by:r}=t,{from:i,to:a,days:o}=T(n,f()),s={from:i.toISOString(),...a!==null&&{to:a.toISOString()}},c=t=>this.context.api.call(`/api/v2/stats?${new URLSearchParams({...s,by:t,limit:`50`})}`,{signal:e}),l=o<3?`hour`:`day`,[u,d]=await Promise.all([c(r),r===l?null:c(l)]);return{choice:t,table:u,chart:d??u}}updated(){let{value:e}=this.#a,t=this.#o();e!==void 0&&(U(e.choice,t)?(this.#t[0]!==e||this.#t[1]!==t.show)&&(this.#t=[e,t.show],this.#c()):this.#a.refresh())}async#c(){let e=await import(`./usage-chart-D1Z8GgZj.js`).catch(()=>null),r=this.querySelector(`.chart`),i=this.#a.value?.chart;if(this.#n(),this.#n=()=>{},!this.isConnected||e===null||r===null||i===void 0)return;let{show:a}=this.#o(),o=e=>getComputedStyle(this.querySelector(e)??r).color;this.#n=e.drawBars(r,{times:i.data.map(({key:e})=>Date.parse(e??``)/1e3),stepSeconds:i.by===`hour`?F:24*F,parts:g[a].map(({kind:e,read:t})=>({color:o(`.swatch.${e}`),values:i.data.map(t)})),color:getComputedStyle(r).color,lineColor:getComputedStyle(r).borderTopColor,format:a===`cost`?n:t,onBar:i.by===`day`?e=>this.#l(i.data[e]):null})}#l(e){e?.key!=null&&l(G(e.key,this.#o().show))}onKey(e){if(e!==`j`&&e!==`k`)return!1;let t=this.querySelectorAll(`tbody a`);return this.#e=Math.min(t.length-1,Math.max(0,this.#e+(e===`j`?1:-1))),t[this.#e]?.focus(),!0}render(){let e=this.#o(),{value:t,error:n}=this.#a,r=t!==void 0&&U(t.choice,e)?t:void 0;return c`
      <div class="page-head usage-head">
        <h1>Usage</h1>
        ${P(e.range,{toLink:t=>W({...e,range:t}),now:f()})}
      </div>
      <p class="hint">${j(e.range,f())}. Days and hours are in local time (${a}).</p>
      ${u(n)} ${r===void 0?c`<p role="status">Loading …</p>`:this.#d(r,e)}
    `}#u(e,t,n,r){let i=this.#o();return c`<nav class="tabs" aria-label=${e}>
      ${n.map(e=>c`<a
          class="tab" href=${W({...i,[t]:e})} aria-current=${i[t]===e?`true`:s}
          >${r(e)}</a
        >`)}
    </nav>`}#d({table:e,chart:t},{show:n}){let{total:r}=e;return r.tasks===0?c`<p class="empty">No task ended in this window. <a href=${d(`new`)}>Dispatch one</a>, or choose a longer window.</p>`:c`
      ${B(r)}
      <section class="panel chart-panel" aria-label="Chart">
        ${this.#u(`Chart`,`show`,v,e=>R[e])}
        <div aria-hidden="true">
          <div class="chart ${t.by===`day`?`clickable`:``}"></div>
          <p class="legend">${g[n].map(({kind:e,label:t})=>c`<span class="swatch ${e}">■</span> ${t} `)}</p>
        </div>
      </section>
      ${this.#u(`Group by`,`by`,I,e=>L[e])}
      ${K(e,n)} ${r.tasksWithoutCost===0?s:H(r)}
    `}};const B=e=>c`
  <dl class="facts usage-figures">
    ${V(`Cost`,h(e))}
    ${V(`Input tokens`,m(e.inputTokens,e))}
    ${V(`Output tokens`,m(e.outputTokens,e))}
    ${V(`Tasks`,String(e.tasks),`${e.completed} completed, ${e.failed} failed, ${e.cancelled} canceled`)}
  </dl>
`,V=(e,t,n=``)=>c`<div><dt>${e}</dt><dd>${t}</dd>${n===``?s:c`<dd class="detail">${n}</dd>`}</div>`,H=({tasks:e,tasksWithoutCost:t})=>c`
  <p class="note info">
    The cost of ${t} of ${e} tasks is unknown, shown as <code>?</code>: their runtimes reported none. Where Bridge calls a
    model itself, set its price in <code>BRIDGE_MODEL_PRICES</code>, for example
    <code>{"my-model":{"input":3,"output":15}}</code> in US dollars per million tokens. The price applies to tasks that end after the restart.
  </p>
`,U=(e,t)=>e.by===t.by&&new URLSearchParams(w(e.range)).toString()===new URLSearchParams(w(t.range)).toString(),W=({range:e,by:t,show:n})=>d(`usage?${new URLSearchParams({...w(e),by:t,show:n})}`),G=(e,t)=>W({range:{from:E(e),to:E(e)},by:`agent`,show:t});function K({by:e,data:t,other:n},r){let i=[L[e],`Cost`,`Tasks`,`Completed`,`Failed`,`Canceled`,`Input tokens`,`Cached`,`Output tokens`,`Run time`],a=e===`hour`||e===`day`?t.filter(({tasks:e})=>e>0).toReversed():t;return c`
    <div class="scroll usage-table" tabindex="0" role="region" aria-label="Usage by ${L[e]}">
      <table class="usage">
        <thead>
          <tr>${i.map(e=>c`<th scope="col">${e}</th>`)}</tr>
        </thead>
        <tbody>
          ${a.map(t=>q(J(e,t,r),t))}
          ${n===null?s:q(`all others`,n)}
        </tbody>
      </table>
    </div>
    ${e===`label`?c`<p class="hint">A task with several labels is in several rows.</p>`:s}
    ${a.length===0&&n===null?c`<p class="empty">No task in this window has a label.</p>`:s}
  `}const q=(e,t)=>c`
  <tr>
    <th scope="row">${e}</th>
    <td class="cost">${h(t)}</td>
    <td>${t.tasks}</td>
    <td>${t.completed}</td>
    <td>${t.failed}</td>
    <td>${t.cancelled}</td>
    <td>${m(t.inputTokens,t)}</td>
    <td>${m(t.cacheReadTokens,t)}</td>
    <td>${m(t.outputTokens,t)}</td>
    <td>${i(t.durationMs)}</td>
  </tr>
`;function J(t,{key:n},i){return n===null?`?`:t===`hour`?e(n,f()):t===`day`?c`<a href=${G(n,i)}>${E(n)}</a>`:t===`agent`?c`<a href=${d(`tasks?${new URLSearchParams({agentId:n})}`)}>${n}</a>`:t===`provider`?c`<a href=${d(`tasks?${new URLSearchParams({provider:n})}`)}>${n}</a>`:t===`label`?c`<a href=${d(`tasks?${new URLSearchParams({label:n})}`)}>${r(n)}</a>`:r(n)}customElements.define(`bridge-usage`,z);