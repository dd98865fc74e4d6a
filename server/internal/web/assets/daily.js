import{open as t}from"./challenge.js";var o=(a,{id:e})=>t(a,{daily:{variant:e,date:new URLSearchParams(location.search).get("date")}});export{o as default};
