/** The pages that need no session, outside the shell. */
import type { ComponentType } from 'react'

interface SignInPage {
  readonly path: string
  readonly load: () => Promise<{ readonly Page: ComponentType }>
}

export const SIGN_IN_PAGES: readonly SignInPage[] = [
  { path: '/sign-in', load: () => import('../features/sign-in/sign-in-page.tsx') },
  { path: '/sign-up', load: () => import('../features/sign-in/sign-up-page.tsx') },
  { path: '/setup', load: () => import('../features/sign-in/setup-page.tsx') },
  { path: '/invite', load: () => import('../features/sign-in/invite-page.tsx') },
  { path: '/reset', load: () => import('../features/sign-in/reset-page.tsx') },
]
