/** Ctrl+K: any page by its name. */
import { Kbd, Text, UnstyledButton } from '@mantine/core'
import { Spotlight, spotlight } from '@mantine/spotlight'
import { useNavigate } from '@tanstack/react-router'
import { Icon } from '../components/icon.tsx'
import { useMessages } from '../lib/i18n.tsx'
import { useSession } from '../lib/session.tsx'
import { messages } from './messages.ts'
import classes from './page-search.module.css'
import { PAGES } from './pages.ts'

export function SearchButton() {
  const t = useMessages(messages)
  return (
    <UnstyledButton className={classes.button} onClick={spotlight.open} aria-label={t('search')}>
      <Icon name="search" size={16} />
      <Text size="sm" c="dimmed" visibleFrom="sm" component="span">
        {t('search')}
      </Text>
      <Kbd size="xs" visibleFrom="sm">
        Ctrl K
      </Kbd>
    </UnstyledButton>
  )
}

export function PageSearch() {
  const t = useMessages(messages)
  const navigate = useNavigate()
  const { session } = useSession()
  const actions = PAGES.filter(({ area }) => area === 'customer' || session.user.operator).map(
    ({ path, area, label, icon }) => ({
      id: path,
      label: t(label),
      description: t(area === 'customer' ? 'customerArea' : 'operatorArea'),
      leftSection: <Icon name={icon} />,
      // The English name finds a page in every language.
      keywords: [path, messages.en[label]],
      onClick: () => void navigate({ to: path }),
    }),
  )
  return (
    <Spotlight
      actions={actions}
      nothingFound={t('searchEmpty')}
      highlightQuery
      shortcut="mod + K"
      searchProps={{ placeholder: t('search'), 'aria-label': t('search') }}
    />
  )
}
