/**
 * Every page of the console, in the order of the navigation. A page is a line here and a folder
 * in features/: its module exports `Page`, and is fetched when it is first opened.
 */
import type { ComponentType } from 'react'
import type { IconName } from '../components/icon.tsx'
import type { messages } from './messages.ts'

export type Area = 'customer' | 'operator'

export interface PageEntry {
  /** Below /console. */
  readonly path: string
  readonly area: Area
  readonly label: keyof (typeof messages)['en']
  readonly icon: IconName
  readonly load: () => Promise<{ readonly Page: ComponentType }>
}

type Line = Omit<PageEntry, 'area'>

const customer: readonly Line[] = [
  {
    path: '/',
    label: 'overview',
    icon: 'home',
    load: () => import('../features/overview/page.tsx'),
  },
  {
    path: '/keys',
    label: 'keys',
    icon: 'key',
    load: () => import('../features/keys/page.tsx'),
  },
]

const operator: readonly Line[] = []

export const PAGES: readonly PageEntry[] = [
  ...customer.map((line) => ({ ...line, area: 'customer' as const })),
  ...operator.map((line) => ({ ...line, area: 'operator' as const })),
]
