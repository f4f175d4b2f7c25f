/** The console of Bridge. The element `bridge-app` in `index.html` starts it. */
import "./app.ts";
