/**
 * Every page of the console, in the order of the navigation. A page is a line here and a folder in
 * features/ whose module exports `Page` and is loaded when the page is first opened.
 */
import type { ComponentType } from 'react'
import type { IconName } from '../components/icon.tsx'
import type { messages } from './messages.ts'

export type Area = 'customer' | 'operator'

export interface PageEntry {
  /** Path below /console. */
  readonly path: string
  readonly area: Area
  readonly label: keyof (typeof messages)['en']
  readonly icon: IconName
  readonly load: () => Promise<{ readonly Page: ComponentType }>
  /** True for a customer page that also serves users without an account. */
  readonly needsNoAccount?: true
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
    path: '/playground',
    label: 'playground',
    icon: 'play',
    load: () => import('../features/playground/page.tsx'),
  },
  {
    path: '/keys',
    label: 'keys',
    icon: 'key',
    load: () => import('../features/keys/page.tsx'),
  },
  {
    path: '/usage',
    label: 'usage',
    icon: 'chart',
    load: () => import('../features/usage/page.tsx'),
  },
  {
    path: '/budgets',
    label: 'budgets',
    icon: 'gauge',
    load: () => import('../features/budgets/page.tsx'),
  },
  {
    path: '/tasks',
    label: 'tasks',
    icon: 'clock',
    load: () => import('../features/tasks/page.tsx'),
  },
  {
    path: '/gallery',
    label: 'gallery',
    icon: 'image',
    load: () => import('../features/gallery/page.tsx'),
  },
  {
    path: '/assets',
    label: 'assets',
    icon: 'folder',
    load: () => import('../features/assets/page.tsx'),
  },
  {
    path: '/models',
    label: 'models',
    icon: 'box',
    load: () => import('../features/models/page.tsx'),
  },
  {
    path: '/billing',
    label: 'billing',
    icon: 'card',
    load: () => import('../features/billing/page.tsx'),
  },
  {
    path: '/alerts',
    label: 'alerts',
    icon: 'bell',
    load: () => import('../features/alerts/page.tsx'),
  },
  {
    path: '/webhooks',
    label: 'webhooks',
    icon: 'hook',
    load: () => import('../features/webhooks/page.tsx'),
  },
  {
    path: '/settings',
    label: 'settings',
    icon: 'gear',
    load: () => import('../features/settings/page.tsx'),
    needsNoAccount: true,
  },
]

const operator: readonly Line[] = [
  {
    path: '/operator',
    label: 'overview',
    icon: 'chart',
    load: () => import('../features/operator-overview/page.tsx'),
  },
  {
    path: '/operator/accounts',
    label: 'accounts',
    icon: 'users',
    load: () => import('../features/operator-accounts/page.tsx'),
  },
  {
    path: '/operator/users',
    label: 'users',
    icon: 'user',
    load: () => import('../features/operator-users/page.tsx'),
  },
  {
    path: '/operator/channels',
    label: 'channels',
    icon: 'plug',
    load: () => import('../features/operator-channels/page.tsx'),
  },
  {
    path: '/operator/models',
    label: 'prices',
    icon: 'tag',
    load: () => import('../features/operator-models/page.tsx'),
  },
  {
    path: '/operator/price-lists',
    label: 'priceLists',
    icon: 'list',
    load: () => import('../features/operator-price-lists/page.tsx'),
  },
  {
    path: '/operator/calls',
    label: 'calls',
    icon: 'phone',
    load: () => import('../features/operator-calls/page.tsx'),
  },
  {
    path: '/operator/tasks',
    label: 'tasks',
    icon: 'clock',
    load: () => import('../features/operator-tasks/page.tsx'),
  },
  {
    path: '/operator/deliveries',
    label: 'deliveries',
    icon: 'send',
    load: () => import('../features/operator-deliveries/page.tsx'),
  },
  {
    path: '/operator/alerts',
    label: 'alerts',
    icon: 'bell',
    load: () => import('../features/alerts/operator-page.tsx'),
  },
  {
    path: '/operator/sign-in',
    label: 'signIn',
    icon: 'user',
    load: () => import('../features/operator-sign-in/page.tsx'),
  },
  {
    path: '/operator/subjects',
    label: 'subjects',
    icon: 'key',
    load: () => import('../features/operator-subjects/page.tsx'),
  },
  {
    path: '/operator/redeem-codes',
    label: 'redeem',
    icon: 'gift',
    load: () => import('../features/operator-codes/page.tsx'),
  },
  {
    path: '/operator/proof',
    label: 'proof',
    icon: 'shield',
    load: () => import('../features/operator-proof/page.tsx'),
  },
  {
    path: '/operator/system',
    label: 'system',
    icon: 'server',
    load: () => import('../features/operator-system/page.tsx'),
  },
  {
    path: '/operator/audit-log',
    label: 'audit',
    icon: 'book',
    load: () => import('../features/operator-audit-log/page.tsx'),
  },
]

export const PAGES: readonly PageEntry[] = [
  ...customer.map((line) => ({ ...line, area: 'customer' as const })),
  ...operator.map((line) => ({ ...line, area: 'operator' as const })),
]
