/** The frame: navigation at the side, account and search above, the page in the middle. */
import { AppShell, Box, Burger, Group } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Outlet, useLocation } from '@tanstack/react-router'
import { useEffect } from 'react'
import { ButtonLink } from '../../components/links.tsx'
import { Notice } from '../../components/state/notice.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { useLiveUpdates } from '../../lib/live.ts'
import { useSession } from '../../lib/session.tsx'
import { messages } from '../messages.ts'
import { AccountSwitcher } from './account-switcher.tsx'
import { Brand } from './brand.tsx'
import { Navigation } from './navigation.tsx'
import { PageSearch, SearchButton } from './page-search.tsx'
import { StatusBar } from './status-bar.tsx'
import { UserMenu } from './user-menu.tsx'
import { useArea, WorkspaceSwitch } from './workspace-switch.tsx'

const HEADER_HEIGHT = 52

export function Shell() {
  const t = useMessages(messages)
  const { pathname } = useLocation()
  const { account, session } = useSession()
  const [isOpen, menu] = useDisclosure(false)
  const { close } = menu
  // biome-ignore lint/correctness/useExhaustiveDependencies: on a phone a chosen page shows itself
  useEffect(close, [pathname])
  useLiveUpdates(account?.id)
  return (
    <AppShell
      header={{ height: HEADER_HEIGHT }}
      navbar={{ width: 216, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
    >
      <a href="#page" className="skip-link">
        {t('skip')}
      </a>
      <AppShell.Header bg="var(--surface)" style={{ borderColor: 'var(--line)' }}>
        <Group h="100%" px="md" gap="sm" wrap="nowrap">
          <Burger
            opened={isOpen}
            onClick={menu.toggle}
            hiddenFrom="sm"
            size="sm"
            aria-label={t('openNavigation')}
          />
          <Brand />
          {useArea() === 'customer' ? <AccountSwitcher /> : null}
          <Box flex={1} />
          <SearchButton />
          <UserMenu />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar bg="var(--surface)" style={{ borderColor: 'var(--line)' }} p="xs">
        {session.user.operator ? <WorkspaceSwitch /> : null}
        <Navigation />
      </AppShell.Navbar>
      <AppShell.Main id="page" tabIndex={-1}>
        <StatusBar />
        <Box p={{ base: 'md', sm: 'xl' }} maw={1240} mx="auto">
          {session.second_factor.missing && pathname !== '/settings' ? <FactorNotice /> : null}
          <Outlet key={account?.id ?? 'none'} />
        </Box>
      </AppShell.Main>
      <PageSearch />
    </AppShell>
  )
}

function FactorNotice() {
  const t = useMessages(messages)
  const act = (
    <ButtonLink to="/settings" variant="default" size="compact-sm">
      {t('factorAct')}
    </ButtonLink>
  )
  return (
    <Box mb="md">
      <Notice tone="warning" title={t('factorTitle')} action={act}>
        {t('factorText')}
      </Notice>
    </Box>
  )
}
