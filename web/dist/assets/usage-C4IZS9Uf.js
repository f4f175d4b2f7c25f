import{B as e,F as t,H as n,M as r,S as i,T as a,U as o,et as s,i as c,nt as l,o as u,p as d,r as f,z as p}from"./shared-C71ngRhu.js";import{a as m,c as h,l as g,o as _,s as v,u as y}from"./console-Ds4iPE9S.js";
/**
* @license lucide v1.65.0 - ISC
*
* This source code is licensed under the ISC license.
* See the LICENSE file in the root directory of this source tree.
*/
const b=[[`path`,{d:`M12 5v14`}],[`path`,{d:`m19 12-7 7-7-7`}]],x=[[`path`,{d:`m5 12 7-7 7 7`}],[`path`,{d:`M12 19V5`}]],S=[[`path`,{d:`M8 2v3`}],[`path`,{d:`M16 2v3`}],[`rect`,{x:`3`,y:`3`,width:`18`,height:`18`,rx:`2`}],[`path`,{d:`M3 9h18`}],[`path`,{d:`M8 13h.01`}],[`path`,{d:`M12 13h.01`}],[`path`,{d:`M16 13h.01`}],[`path`,{d:`M8 17h.01`}],[`path`,{d:`M12 17h.01`}],[`path`,{d:`M16 17h.01`}]],C=[`today`,`yesterday`,`7d`,`30d`,`90d`,`365d`],w={today:`Today`,yesterday:`Yesterday`,"7d":`7 days`,"30d":`30 days`,"90d":`90 days`,"365d":`365 days`},T=864e5,E=/^\d{4}-\d{2}-\d{2}$/
/**
* @license lucide v1.65.0 - ISC
*
* This source code is licensed under the ISC license.
* See the LICENSE file in the root directory of this source tree.
*/
/**
* @license lucide v1.65.0 - ISC
*
* This source code is licensed under the ISC license.
* See the LICENSE file in the root directory of this source tree.
*/
;function ee(e){let[t,n]=[`from`,`to`].map(t=>e.get(t)??``);if(t!==void 0&&n!==void 0&&N(t)){let e=N(n)?n:t;return t<=e?{from:t,to:e}:{from:e,to:t}}return C.find(t=>t===e.get(`window`))??`today`}const D=e=>typeof e==`string`?{window:e}:{...e};function O(e,t){let n=new Date(t),r=e=>new Date(n.getFullYear(),n.getMonth(),n.getDate()-e);if(e===`today`)return{from:r(0),to:null,days:1};if(e===`yesterday`)return{from:r(1),to:r(0),days:1};if(typeof e==`string`){let t=Number.parseInt(e,10);return{from:r(t-1),to:null,days:t}}let[i,a]=[M(e.from),M(e.to)],o=new Date(a.getFullYear(),a.getMonth(),a.getDate()+1);return{from:i,to:o,days:Math.round((o.getTime()-i.getTime())/T)}}function k(e,t){let{from:n,to:r,days:i}=O(e,t),a=e=>{let t=new Date(e);return t.setDate(t.getDate()-i),t},o=a(n);if(o.getTime()<t-400*T)return null;let s=e===`today`?`yesterday`:i===1?`the day before`:`the ${i} days before`;return{from:o,to:a(r??new Date(t)),name:s,isPartial:r===null}}function A(e){let t=new Date(Date.parse(e)+432e5);return j(t)}const j=e=>[e.getFullYear(),e.getMonth()+1,e.getDate()].map(e=>String(e).padStart(2,`0`)).join(`-`);function M(e){let[t=0,n=1,r=1]=e.split(`-`).map(Number);return new Date(t,n-1,r)}const N=e=>E.test(e)&&j(M(e))===e,P=new Intl.DateTimeFormat([],{dateStyle:`medium`});function te(e,t){let{from:n,to:r}=O(e,t);return P.formatRange(n,r===null?new Date(t):/* @__PURE__ */ new Date(r.getTime()-1))}const ne=[`today`,`yesterday`,`7d`,`30d`],F=[`90d`,`365d`];function re(e,{toLink:t,now:n}){let r=(n,r)=>l`<a class=${r} href=${t(n)} aria-current=${n===e?`true`:s}>${w[n]}</a>`,i=typeof e!=`string`||F.includes(e),a=typeof e==`string`?w[e]:e.from===e.to?e.from:`${e.from} – ${e.to}`,o=typeof e==`string`?{from:``,to:``}:e,d=e=>e.currentTarget.closest(`details`)?.removeAttribute(`open`);return l`<div class="range-picker">
    <nav class="tabs" aria-label="Range">${ne.map(e=>r(e,`tab`))}</nav>
    <details class="menu" @focusout=${e=>{e.currentTarget.contains(e.relatedTarget)||d(e)}} @keydown=${e=>{e.key===`Escape`&&(d(e),e.currentTarget.querySelector(`summary`)?.focus())}}>
      <summary class=${i?`used`:``}>${u(S)} <span class=${i?``:`range-word`}>${i?a:`Range`}</span></summary>
      <div class="range-panel" tabindex="-1">
        <p class="tabs" @click=${d}>${F.map(e=>r(e,`tab`))}</p>
        <form @submit=${e=>{e.preventDefault();let n=new FormData(e.currentTarget),[r,i]=[`from`,`to`].map(e=>String(n.get(e)??``));r!==void 0&&r!==``&&(d(e),c(t({from:r,to:i===void 0||i===``?r:i})))}}>
          <label>From <input type="date" name="from" .value=${o.from} max=${j(new Date(n))} required /></label>
          <label>To <input type="date" name="to" .value=${o.to} max=${j(new Date(n))} /></label>
          <button class="primary" type="submit">Show</button>
        </form>
      </div>
    </details>
  </div>`}const I=3600,L=new Intl.DateTimeFormat([],{dateStyle:`medium`,timeStyle:`short`}),R=new Intl.DateTimeFormat([],{weekday:`short`,year:`numeric`,month:`short`,day:`numeric`});var z=class extends n{static properties={chart:{attribute:!1},show:{attribute:!1},onOpen:{attribute:!1}};#e=null;#t=null;#n=[];#r=matchMedia(`(prefers-color-scheme: dark)`);#i=()=>void this.#a();connectedCallback(){super.connectedCallback(),this.#r.addEventListener(`change`,this.#i)}disconnectedCallback(){super.disconnectedCallback(),this.#r.removeEventListener(`change`,this.#i),this.#t?.remove(),this.#t=null}updated(){(this.#n[0]!==this.chart||this.#n[1]!==this.show)&&(this.#n=[this.chart,this.show],this.#a()),this.#l()}async#a(){let e=await import(`./usage-chart-CHBJ2Ls3.js`).catch(()=>null),t=this.querySelector(`.chart`);if(this.#t?.remove(),this.#t=null,!this.isConnected||e===null||t===null)return;let{chart:n,show:r}=this,i=e=>getComputedStyle(this.querySelector(`.swatch.${e}`)??t).color;this.#t=e.drawBars(t,{times:n.data.map(({key:e})=>Date.parse(e??``)/1e3),stepSeconds:n.by===`hour`?I:24*I,parts:this.#o().map(({kind:e,values:t})=>({color:i(e),values:t})),color:getComputedStyle(t).color,lineColor:getComputedStyle(t).borderTopColor,format:e=>v(r,e),onPoint:e=>this.#s(e),onClick:e=>this.onOpen?.(e)}),this.#l()}#o(){return g(this.chart,this.show)}#s(e){e!==this.#e&&(this.#e=e,this.requestUpdate())}#c(e){let t=this.chart.data.length-1,n=this.#e??t,r={ArrowLeft:n-1,ArrowDown:n-1,ArrowRight:n+1,ArrowUp:n+1,Home:0,End:t}[e.key];if(r!==void 0)this.#s(Math.min(t,Math.max(0,r)));else if(e.key===`Enter`)this.onOpen?.(n);else if(e.key===`Escape`)this.#s(null);else return;e.preventDefault()}#l(){let e=this.#t?.mark(this.#e),t=this.querySelector(`.chart-tip`);if(e===void 0||t===null)return;let{clientWidth:n}=this,r=e.start+e.end>n?e.start-t.offsetWidth-4:e.end+4;t.style.left=`${Math.max(0,Math.min(r,n-t.offsetWidth))}px`}render(){let{by:e,data:t}=this.chart,n=this.#o(),r=Math.min(this.#e??t.length-1,t.length-1),i={cost:`Cost`,tokens:`Tokens`,tasks:`Tasks`}[this.show];return l`
      <div
        class="chart ${this.onOpen===null?``:`clickable`}" tabindex="0" role="slider" aria-label="${i} by ${e}"
        aria-valuemin="0" aria-valuemax=${t.length-1} aria-valuenow=${r} aria-valuetext=${this.#f(r,n)}
        @keydown=${this.#c} @focus=${()=>this.#s(this.#u(n))} @blur=${()=>this.#s(null)}
      ></div>
      ${this.#e===null?s:this.#m(r,n)}
      <p class="legend">${n.map(({kind:e,label:t})=>l`<span><span class="swatch ${e}" aria-hidden="true">■</span> ${t}</span> `)}</p>
    `}#u(e){let t=this.chart.data.findLastIndex((t,n)=>e.some(({values:e})=>(e[n]??0)>0));return t===-1?this.chart.data.length-1:t}#d(e){let t=this.chart.data[e]?.key??``;return this.chart.by===`day`?R.format(Date.parse(t)+432e5):L.formatRange(Date.parse(t),Date.parse(t)+I*1e3)}#f(e,t){let n=B(e,t).map(({label:e,value:t})=>`${e} ${v(this.show,t)}`);return`${this.#d(e)}: ${[`sum ${this.#p(e,t)}`,...n].join(`, `)}`}#p(e,t){let n=t.map(({values:t})=>t[e]??null),r=n.filter(e=>e!==null);if(r.length===0&&n.length>0)return`?`;let i=this.chart.data[e],a={cost:i?.tasksWithoutCost,tokens:i?.tasksWithoutUsage,tasks:0}[this.show]??0,o=r.reduce((e,t)=>e+t,0);return a>0&&o===0?`?`:`${v(this.show,o)}${a>0?` + ?`:``}`}#m(e,t){return l`<div class="chart-tip" aria-hidden="true">
      <p>${this.#d(e)}</p>
      <dl>
        ${B(e,t).map(({kind:e,label:t,value:n})=>l`<dt><span class="swatch ${e}">■</span> ${t}</dt><dd>${v(this.show,n)}</dd>`)}
        <dt class="sum">Sum</dt><dd class="sum">${this.#p(e,t)}</dd>
      </dl>
    </div>`}};const B=(e,t)=>t.map(({kind:t,label:n,values:r})=>({kind:t,label:n,value:r[e]??null})).filter(({value:e})=>e!==0).toReversed();customElements.define(`bridge-usage-bars`,z);function V(e,t){let n=(n,r)=>{let i=t===null?``:m(n(e),n(t.total));return t===null||t.total.tasks===0||i===``?``:i===`none before`?i:`${r!==null&&e[r]+t.total[r]>0?`about `:``}${i} vs ${t.name}`};return l`
    <dl class="facts usage-figures">
      ${H(`Cost`,_(e),n(({costUsd:e})=>e,`tasksWithoutCost`))}
      ${H(`Input tokens`,h(e.inputTokens,e),n(({inputTokens:e})=>e,`tasksWithoutUsage`))}
      ${H(`Output tokens`,h(e.outputTokens,e),n(({outputTokens:e})=>e,`tasksWithoutUsage`))}
      ${H(`Tasks`,String(e.tasks),n(({tasks:e})=>e,null),`${e.completed} completed, ${e.failed} failed, ${e.cancelled} canceled`)}
    </dl>
  `}const H=(e,t,...n)=>l`<div>
    <dt>${e}</dt><dd>${t}</dd>${n.map(e=>e===``?s:l`<dd class="detail">${e}</dd>`)}
  </div>`,U=[{id:`cost`,name:`Cost`,read:({costUsd:e})=>e,format:_},{id:`tasks`,name:`Tasks`,read:({tasks:e})=>e,format:({tasks:e})=>String(e)},{id:`completed`,name:`Completed`,read:({completed:e})=>e,format:({completed:e})=>String(e)},{id:`failed`,name:`Failed`,read:({failed:e})=>e,format:({failed:e})=>String(e)},{id:`canceled`,name:`Canceled`,read:({cancelled:e})=>e,format:({cancelled:e})=>String(e)},{id:`input`,name:`Input tokens`,read:({inputTokens:e})=>e,format:e=>h(e.inputTokens,e)},{id:`cached`,name:`Cached`,read:({cacheReadTokens:e})=>e,format:e=>h(e.cacheReadTokens,e)},{id:`output`,name:`Output tokens`,read:({outputTokens:e})=>e,format:e=>h(e.outputTokens,e)},{id:`time`,name:`Run time`,read:({durationMs:e})=>e,format:({durationMs:e})=>r(e)}],W=[`key`,...U.map(({id:e})=>e)];function G({data:e,other:t},n){let{title:r,sorting:i,renderKey:a}=n,o=(e,t)=>{let r=i.column===e,a=r?!i.isAscending:e===`key`;return l`<th scope="col" aria-sort=${r?i.isAscending?`ascending`:`descending`:s}>
      <a href=${n.toLink({column:e,isAscending:a})}>${t}${r?u(i.isAscending?x:b):s}</a>
    </th>`};return l`
    <div class="scroll usage-table" tabindex="0" role="region" aria-label="Usage by ${r}">
      <table class="usage">
        <thead>
          <tr>${o(`key`,r)}${U.map(({id:e,name:t})=>o(e,t))}</tr>
        </thead>
        <tbody>
          ${K(e,i).map(e=>q(a(e),e))}
          ${t===null?s:q(`all others`,t)}
        </tbody>
      </table>
    </div>
  `}function K(e,{column:t,isAscending:n}){let r=n?1:-1,i=U.find(({id:e})=>e===t)?.read;return e.toSorted((e,t)=>{let[n,a]=i===void 0?[e.key,t.key]:[i(e),i(t)];return n===null||a===null?n===a?0:n===null?1:-1:typeof n==`string`||typeof a==`string`?r*String(n).localeCompare(String(a)):r*(n-a)})}const q=(e,t)=>l`
  <tr>
    <th scope="row">${e}</th>
    ${U.map(({id:e,format:n})=>l`<td class=${e}>${n(t)}</td>`)}
  </tr>
`,J=[`agent`,`provider`,`model`,`label`,`day`,`hour`],Y={agent:`Agent`,provider:`Adapter`,model:`Model`,label:`Label`,day:`Day`,hour:`Hour`},ie=[`agent`,`provider`,`model`],ae={tasks:`Tasks`,cost:`Cost`,tokens:`Tokens`};var oe=class extends o{#e=-1;#t=i(this,e=>this.#r(e),{intervalMs:()=>15e3});#n(){let{query:e}=this.route,t=ee(e),n=J.find(t=>t===e.get(`by`))??`agent`,r=y.find(t=>t===e.get(`show`))??`cost`,i=W.find(t=>t===e.get(`sort`)),o=i===void 0?null:{column:i,isAscending:e.get(`order`)===`asc`};return{range:t,by:n===`hour`&&O(t,a()).days>30?`day`:n,show:r,sort:o}}async#r(e){let t=this.#n(),{range:n,by:r}=t,{from:i,to:o,days:s}=O(n,a()),c=k(n,a()),l=(t,n)=>{let r={from:t.from.toISOString(),...t.to!==null&&{to:t.to.toISOString()},...n};return this.context.api.call(`/api/v2/stats?${new URLSearchParams(r)}`,{signal:e})},u=s<3?`hour`:`day`,d=ie.includes(r)?r:`agent`,[f,p,m]=await Promise.all([r===u?null:l({from:i,to:o},{by:r,limit:`50`}),l({from:i,to:o},{by:u,split:d,limit:`6`}),c===null?null:l(c,{by:`provider`,limit:`1`})]);return{choice:t,chart:p,table:f??p,previous:m===null||c===null?null:{total:m.total,...c}}}updated(){let{value:e}=this.#t;e!==void 0&&!X(e.choice,this.#n())&&this.#t.refresh()}#i(e){e?.key!=null&&c(Q(e.key,this.#n()))}onKey(e){if(e!==`j`&&e!==`k`)return!1;let t=this.querySelectorAll(`tbody a`);return this.#e=Math.min(t.length-1,Math.max(0,this.#e+(e===`j`?1:-1))),t[this.#e]?.focus(),!0}render(){let e=this.#n(),{value:t,error:n}=this.#t,r=t!==void 0&&X(t.choice,e)?t:void 0;return l`
      <div class="page-head usage-head">
        <h1>Usage</h1>
        ${re(e.range,{toLink:t=>Z({...e,range:t}),now:a()})}
      </div>
      <p class="hint">
        ${te(e.range,a())}. Days and hours are in local time (${p}).
        ${r===void 0?s:se(r.previous)}
      </p>
      ${d(n)} ${r===void 0?l`<p role="status">Loading …</p>`:this.#s(r,e)}
    `}#a(e,t,n,r){let i=this.#n();return l`<nav class="tabs ${t===`by`?`usage-groups`:``}" aria-label=${e}>
      ${n.map(e=>l`<a
          class="tab" href=${Z({...i,[t]:e})} aria-current=${i[t]===e?`true`:s}
          >${r(e)}</a
        >`)}
    </nav>`}#o(e){let t=O(e,a()).to===null&&this.context.identity.scopes.includes(`dispatch`),n=l`<a href=${f(`new`)}>Dispatch one</a>, or choose`;return l`<p class="empty">No task ended in this window. ${t?n:`Choose`} a longer window.</p>`}#s({table:e,chart:t,previous:n},r){let{total:i}=e;if(i.tasks===0)return l`${V(i,n)} ${this.#o(r.range)}`;let a=t.by===`day`?e=>this.#i(t.data[e]):null;return l`
      ${V(i,n)}
      <section class="panel chart-panel" aria-label="Chart">
        ${this.#a(`Chart`,`show`,y,e=>ae[e])}
        <bridge-usage-bars .chart=${t} .show=${r.show} .onOpen=${a}></bridge-usage-bars>
      </section>
      ${this.#a(`Group by`,`by`,J,e=>Y[e])}
      ${le(e,r)} ${i.tasksWithoutCost===0?s:ce(i)}
    `}};function se(e){return e===null?``:e.total.tasks===0?`Previous period: $0.00, 0 tasks.`:`Compared with ${e.name}${e.isPartial?` until the same hour`:``}.`}const ce=({tasks:e,tasksWithoutCost:t})=>l`
  <p class="note info">
    The cost of ${t} of ${e} tasks is unknown, shown as <code>?</code>: their runtimes reported none. Where Bridge calls a
    model itself, set its price in <code>BRIDGE_MODEL_PRICES</code>, for example
    <code>{"my-model":{"input":3,"output":15}}</code> in US dollars per million tokens. The price applies to tasks that end after the restart.
  </p>
`,X=(e,t)=>e.by===t.by&&new URLSearchParams(D(e.range)).toString()===new URLSearchParams(D(t.range)).toString(),Z=({range:e,by:t,show:n,sort:r})=>{let i=r===null?{}:{sort:r.column,order:r.isAscending?`asc`:`desc`};return f(`usage?${new URLSearchParams({...D(e),by:t,show:n,...i})}`)},Q=(e,t)=>Z({...t,range:{from:A(e),to:A(e)},by:`agent`});function le({by:e,data:t,other:n},r){let i=e===`hour`||e===`day`,a=i?`key`:`cost`,o=i?t.filter(({tasks:e})=>e>0):t;return l`
    ${G({data:o,other:n},{title:Y[e],sorting:r.sort??{column:a,isAscending:!1},toLink:e=>Z({...r,sort:e}),renderKey:t=>$(e,t,r)})}
    ${e===`label`?l`<p class="hint">A task with several labels is in several rows.</p>`:s}
    ${o.length===0&&n===null?l`<p class="empty">No task in this window has a label.</p>`:s}
  `}function $(n,{key:r},i){return r===null?`?`:n===`hour`?t(r,a()):n===`day`?l`<a href=${Q(r,i)}>${A(r)}</a>`:n===`agent`?l`<a href=${f(`tasks?${new URLSearchParams({agentId:r})}`)}>${r}</a>`:n===`provider`?l`<a href=${f(`tasks?${new URLSearchParams({provider:r,children:`all`})}`)}>${r}</a>`:n===`label`?l`<a href=${f(`tasks?${new URLSearchParams({label:r})}`)}>${e(r)}</a>`:e(r)}customElements.define(`bridge-usage`,oe);