/** Builds the routes from the table of pages; every page is a chunk of its own. */
import {
  type AnyRoute,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
} from '@tanstack/react-router'
import { loadFiles } from '../lib/new-build.ts'
import { NotFound, PageCrash, PagePending } from './fallbacks.tsx'
import { AccountGate, OperatorGate } from './gates.tsx'
import { PAGES, type PageEntry } from './pages.ts'
import { SIGN_IN_PAGES } from './sign-in-pages.ts'
import { SignedIn } from './signed-in.tsx'

const root = createRootRoute({ component: Outlet })

const signedIn = createRoute({ getParentRoute: () => root, id: 'signed-in', component: SignedIn })

const gated = { getParentRoute: () => signedIn }
const ofAccounts = createRoute({ ...gated, id: 'of-accounts', component: AccountGate })
const ofOperators = createRoute({ ...gated, id: 'of-operators', component: OperatorGate })

/** Returns routes below `parent` for the pages that pass `isHere`. */
function routesBelow<Parent extends AnyRoute>(
  parent: Parent,
  isHere: (page: PageEntry) => boolean,
) {
  return PAGES.filter(isHere).map(({ path, load }) =>
    createRoute({
      getParentRoute: () => parent,
      path,
      component: lazyRouteComponent(() => loadFiles(load), 'Page'),
    }),
  )
}

const needsAccount = ({ area, needsNoAccount }: PageEntry) => area === 'customer' && !needsNoAccount
const pages = [
  ofAccounts.addChildren(routesBelow(ofAccounts, needsAccount)),
  ofOperators.addChildren(routesBelow(ofOperators, ({ area }) => area === 'operator')),
  ...routesBelow(signedIn, ({ needsNoAccount }) => needsNoAccount === true),
]

const signInPages = SIGN_IN_PAGES.map(({ path, load }) =>
  createRoute({
    getParentRoute: () => root,
    path,
    component: lazyRouteComponent(() => loadFiles(load), 'Page'),
  }),
)

export const router = createRouter({
  routeTree: root.addChildren([signedIn.addChildren(pages), ...signInPages]),
  basepath: '/console',
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultPendingComponent: PagePending,
  defaultNotFoundComponent: NotFound,
  defaultErrorComponent: PageCrash,
  // Plain strings: an id of digits must not become a number.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (search) => {
    const entries = Object.entries(search).filter(([, value]) => value !== undefined)
    const text = new URLSearchParams(entries.map(([name, value]) => [name, String(value)]))
    return text.size > 0 ? `?${text}` : ''
  },
})
