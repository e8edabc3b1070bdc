/** The list of pages of the workspace. */
import { Box, NavLink, ScrollArea } from '@mantine/core'
import { Link, useLocation } from '@tanstack/react-router'
import { Icon } from '../../components/icon.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from '../messages.ts'
import { type Area, PAGES, type PageEntry } from '../pages.ts'
import { useArea } from './workspace-switch.tsx'

const FIRST_PAGES: ReadonlySet<string> = new Set(['/', '/operator'])

export function Navigation() {
  const t = useMessages(messages)
  return (
    <ScrollArea component="nav" aria-label={t('navigation')} type="never">
      <Section area={useArea()} />
    </ScrollArea>
  )
}

function Section({ area }: { readonly area: Area }) {
  const pages = PAGES.filter((page) => page.area === area)
  return (
    <Box mb="md">
      {pages.map((page) => (
        <PageLink key={page.path} page={page} />
      ))}
    </Box>
  )
}

function PageLink({ page }: { readonly page: PageEntry }) {
  const t = useMessages(messages)
  const { pathname } = useLocation()
  const isHere = isWithin(pathname, page.path)
  return (
    <NavLink
      component={Link}
      to={page.path}
      // Overrides the router's own mark: the path of a first page is a prefix of all others.
      activeOptions={{ exact: FIRST_PAGES.has(page.path) }}
      label={t(page.label)}
      leftSection={<Icon name={page.icon} />}
      active={isHere}
      aria-current={isHere ? 'page' : undefined}
      py={3}
      px="sm"
      mb={1}
      style={{ borderRadius: 6 }}
    />
  )
}

/** Returns true also for a detail page of the list; an area's first page matches exactly. */
function isWithin(pathname: string, path: string): boolean {
  const here = pathname.replace(/\/$/, '') || '/'
  if (FIRST_PAGES.has(path)) return here === path
  return here === path || here.startsWith(`${path}/`)
}
