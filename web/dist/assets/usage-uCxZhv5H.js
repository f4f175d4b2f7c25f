import{D as e,F as t,I as n,O as r,Q as i,S as a,X as o,a as s,f as c,i as l,j as u,k as d,z as f}from"./shared-CQ6XbefZ.js";import{S as p,a as m,i as h,o as g,r as _,s as v}from"./console-g8TmWMg5.js";
/**
* @license lucide v1.65.0 - ISC
*
* This source code is licensed under the ISC license.
* See the LICENSE file in the root directory of this source tree.
*/
const y=[[`path`,{d:`M8 2v3`}],[`path`,{d:`M16 2v3`}],[`rect`,{x:`3`,y:`3`,width:`18`,height:`18`,rx:`2`}],[`path`,{d:`M3 9h18`}],[`path`,{d:`M8 13h.01`}],[`path`,{d:`M12 13h.01`}],[`path`,{d:`M16 13h.01`}],[`path`,{d:`M8 17h.01`}],[`path`,{d:`M12 17h.01`}],[`path`,{d:`M16 17h.01`}]],b=[`today`,`yesterday`,`7d`,`30d`,`90d`,`365d`],x={today:`Today`,yesterday:`Yesterday`,"7d":`7 days`,"30d":`30 days`,"90d":`90 days`,"365d":`365 days`},S=/^\d{4}-\d{2}-\d{2}$/;function C(e){let[t,n]=[`from`,`to`].map(t=>e.get(t)??``);if(t!==void 0&&n!==void 0&&k(t)){let e=k(n)?n:t;return t<=e?{from:t,to:e}:{from:e,to:t}}return b.find(t=>t===e.get(`window`))??`today`}const w=e=>typeof e==`string`?{window:e}:{...e};function T(e,t){let n=new Date(t),r=e=>new Date(n.getFullYear(),n.getMonth(),n.getDate()-e);if(e===`today`)return{from:r(0),to:null,days:1};if(e===`yesterday`)return{from:r(1),to:r(0),days:1};if(typeof e==`string`){let t=Number.parseInt(e,10);return{from:r(t-1),to:null,days:t}}let[i,a]=[O(e.from),O(e.to)],o=new Date(a.getFullYear(),a.getMonth(),a.getDate()+1);return{from:i,to:o,days:Math.round((o.getTime()-i.getTime())/864e5)}}function E(e){let t=new Date(Date.parse(e)+432e5);return D(t)}const D=e=>[e.getFullYear(),e.getMonth()+1,e.getDate()].map(e=>String(e).padStart(2,`0`)).join(`-`);function O(e){let[t=0,n=1,r=1]=e.split(`-`).map(Number);return new Date(t,n-1,r)}const k=e=>S.test(e)&&D(O(e))===e,A=new Intl.DateTimeFormat([],{dateStyle:`medium`});function j(e,t){let{from:n,to:r}=T(e,t);return A.formatRange(n,r===null?new Date(t):/* @__PURE__ */ new Date(r.getTime()-1))}const M=[`today`,`yesterday`,`7d`,`30d`],N=[`90d`,`365d`];function P(e,{toLink:t,now:n}){let r=(n,r)=>i`<a class=${r} href=${t(n)} aria-current=${n===e?`true`:o}>${x[n]}</a>`,a=typeof e!=`string`||N.includes(e),c=typeof e==`string`?x[e]:e.from===e.to?e.from:`${e.from} – ${e.to}`,l=typeof e==`string`?{from:``,to:``}:e,u=e=>e.currentTarget.closest(`details`)?.removeAttribute(`open`);return i`<div class="range-picker">
    <nav class="tabs" aria-label="Range">${M.map(e=>r(e,`tab`))}</nav>
    <details class="menu" @focusout=${e=>{e.currentTarget.contains(e.relatedTarget)||u(e)}} @keydown=${e=>{e.key===`Escape`&&(u(e),e.currentTarget.querySelector(`summary`)?.focus())}}>
      <summary class=${a?`used`:``}>${_(y)} <span class=${a?``:`range-word`}>${a?c:`Range`}</span></summary>
      <div class="range-panel" tabindex="-1">
        <p class="tabs" @click=${u}>${N.map(e=>r(e,`tab`))}</p>
        <form @submit=${e=>{e.preventDefault();let n=new FormData(e.currentTarget),[r,i]=[`from`,`to`].map(e=>String(n.get(e)??``));r!==void 0&&r!==``&&(u(e),s(t({from:r,to:i===void 0||i===``?r:i})))}}>
          <label>From <input type="date" name="from" .value=${l.from} max=${D(new Date(n))} required /></label>
          <label>To <input type="date" name="to" .value=${l.to} max=${D(new Date(n))} /></label>
          <button class="primary" type="submit">Show</button>
        </form>
      </div>
    </details>
  </div>`}const F=3600,I=[`agent`,`provider`,`model`,`label`,`day`,`hour`],L={agent:`Agent`,provider:`Adapter`,model:`Model`,label:`Label`,day:`Day`,hour:`Hour`},R={tasks:`Tasks`,cost:`Cost`,tokens:`Tokens`};var z=class extends f{#e=-1;#t=[];#n=()=>{};#r=matchMedia(`(prefers-color-scheme: dark)`);#i=()=>void this.#c();#a=p(this,e=>this.#s(e),{intervalMs:()=>15e3});connectedCallback(){super.connectedCallback(),this.#r.addEventListener(`change`,this.#i)}disconnectedCallback(){super.disconnectedCallback(),this.#r.removeEventListener(`change`,this.#i),this.#n()}#o(){let{query:e}=this.route,t=C(e),n=I.find(t=>t===e.get(`by`))??`agent`,r=v.find(t=>t===e.get(`show`))??`tasks`;return{range:t,by:n===`hour`&&T(t,a()).days>30?`day`:n,show:r}}async#s(e){let t=this.#o(),{range:n,by:r}=t,{from:i,to:o,days:s}=T(n,a()),c={from:i.toISOString(),...o!==null&&{to:o.toISOString()}},l=t=>this.context.api.call(`/api/v2/stats?${new URLSearchParams({...c,by:t,limit:`50`})}`,{signal:e}),u=s<3?`hour`:`day`,[d,f]=await Promise.all([l(r),r===u?null:l(u)]);return{choice:t,table:d,chart:f??d}}updated(){let{value:e}=this.#a,t=this.#o();e!==void 0&&(U(e.choice,t)?(this.#t[0]!==e||this.#t[1]!==t.show)&&(this.#t=[e,t.show],this.#c()):this.#a.refresh())}async#c(){let t=await import(`./usage-chart-D1Z8GgZj.js`).catch(()=>null),n=this.querySelector(`.chart`),i=this.#a.value?.chart;if(this.#n(),this.#n=()=>{},!this.isConnected||t===null||n===null||i===void 0)return;let{show:a}=this.#o(),o=e=>getComputedStyle(this.querySelector(e)??n).color;this.#n=t.drawBars(n,{times:i.data.map(({key:e})=>Date.parse(e??``)/1e3),stepSeconds:i.by===`hour`?F:24*F,parts:g[a].map(({kind:e,read:t})=>({color:o(`.swatch.${e}`),values:i.data.map(t)})),color:getComputedStyle(n).color,lineColor:getComputedStyle(n).borderTopColor,format:a===`cost`?e:r,onBar:i.by===`day`?e=>this.#l(i.data[e]):null})}#l(e){e?.key!=null&&s(G(e.key,this.#o().show))}onKey(e){if(e!==`j`&&e!==`k`)return!1;let t=this.querySelectorAll(`tbody a`);return this.#e=Math.min(t.length-1,Math.max(0,this.#e+(e===`j`?1:-1))),t[this.#e]?.focus(),!0}render(){let e=this.#o(),{value:n,error:r}=this.#a,o=n!==void 0&&U(n.choice,e)?n:void 0;return i`
      <div class="page-head usage-head">
        <h1>Usage</h1>
        ${P(e.range,{toLink:t=>W({...e,range:t}),now:a()})}
      </div>
      <p class="hint">${j(e.range,a())}. Days and hours are in local time (${t}).</p>
      ${c(r)} ${o===void 0?i`<p role="status">Loading …</p>`:this.#d(o,e)}
    `}#u(e,t,n,r){let a=this.#o();return i`<nav class="tabs" aria-label=${e}>
      ${n.map(e=>i`<a
          class="tab" href=${W({...a,[t]:e})} aria-current=${a[t]===e?`true`:o}
          >${r(e)}</a
        >`)}
    </nav>`}#d({table:e,chart:t},{show:n}){let{total:r}=e;return r.tasks===0?i`<p class="empty">No task ended in this window. <a href=${l(`new`)}>Dispatch one</a>, or choose a longer window.</p>`:i`
      ${B(r)}
      <section class="panel chart-panel" aria-label="Chart">
        ${this.#u(`Chart`,`show`,v,e=>R[e])}
        <div aria-hidden="true">
          <div class="chart ${t.by===`day`?`clickable`:``}"></div>
          <p class="legend">${g[n].map(({kind:e,label:t})=>i`<span class="swatch ${e}">■</span> ${t} `)}</p>
        </div>
      </section>
      ${this.#u(`Group by`,`by`,I,e=>L[e])}
      ${K(e,n)} ${r.tasksWithoutCost===0?o:H(r)}
    `}};const B=e=>i`
  <dl class="facts usage-figures">
    ${V(`Cost`,h(e))}
    ${V(`Input tokens`,m(e.inputTokens,e))}
    ${V(`Output tokens`,m(e.outputTokens,e))}
    ${V(`Tasks`,String(e.tasks),`${e.completed} completed, ${e.failed} failed, ${e.cancelled} canceled`)}
  </dl>
`,V=(e,t,n=``)=>i`<div><dt>${e}</dt><dd>${t}</dd>${n===``?o:i`<dd class="detail">${n}</dd>`}</div>`,H=({tasks:e,tasksWithoutCost:t})=>i`
  <p class="note info">
    The cost of ${t} of ${e} tasks is unknown, shown as <code>?</code>: their runtimes reported none. Where Bridge calls a
    model itself, set its price in <code>BRIDGE_MODEL_PRICES</code>, for example
    <code>{"my-model":{"input":3,"output":15}}</code> in US dollars per million tokens. The price applies to tasks that end after the restart.
  </p>
`,U=(e,t)=>e.by===t.by&&new URLSearchParams(w(e.range)).toString()===new URLSearchParams(w(t.range)).toString(),W=({range:e,by:t,show:n})=>l(`usage?${new URLSearchParams({...w(e),by:t,show:n})}`),G=(e,t)=>W({range:{from:E(e),to:E(e)},by:`agent`,show:t});function K({by:e,data:t,other:n},r){let a=[L[e],`Cost`,`Tasks`,`Completed`,`Failed`,`Canceled`,`Input tokens`,`Cached`,`Output tokens`,`Run time`],s=e===`hour`||e===`day`?t.filter(({tasks:e})=>e>0).toReversed():t;return i`
    <div class="scroll usage-table" tabindex="0" role="region" aria-label="Usage by ${L[e]}">
      <table class="usage">
        <thead>
          <tr>${a.map(e=>i`<th scope="col">${e}</th>`)}</tr>
        </thead>
        <tbody>
          ${s.map(t=>q(J(e,t,r),t))}
          ${n===null?o:q(`all others`,n)}
        </tbody>
      </table>
    </div>
    ${e===`label`?i`<p class="hint">A task with several labels is in several rows.</p>`:o}
    ${s.length===0&&n===null?i`<p class="empty">No task in this window has a label.</p>`:o}
  `}const q=(e,t)=>i`
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
    <td>${d(t.durationMs)}</td>
  </tr>
`;function J(e,{key:t},r){return t===null?`?`:e===`hour`?u(t,a()):e===`day`?i`<a href=${G(t,r)}>${E(t)}</a>`:e===`agent`?i`<a href=${l(`tasks?${new URLSearchParams({agentId:t})}`)}>${t}</a>`:e===`provider`?i`<a href=${l(`tasks?${new URLSearchParams({provider:t})}`)}>${t}</a>`:e===`label`?i`<a href=${l(`tasks?${new URLSearchParams({label:t})}`)}>${n(t)}</a>`:n(t)}customElements.define(`bridge-usage`,z);