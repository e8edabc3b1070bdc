/** Ctrl+K: finds a page by its name, and a record by its id. */
import { Kbd, Text, UnstyledButton } from '@mantine/core'
import { Spotlight, spotlight } from '@mantine/spotlight'
import { type KeyboardEvent, useState } from 'react'
import { Icon } from '../../components/icon.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { useSession } from '../../lib/session.tsx'
import { useGoTo } from '../../lib/url-state.ts'
import { messages } from '../messages.ts'
import { PAGES, type PageEntry } from '../pages.ts'
import { placesOfId } from './find-by-id.ts'
import classes from './page-search.module.css'

export function SearchButton() {
  const t = useMessages(messages)
  return (
    <UnstyledButton className={classes.button} onClick={spotlight.open}>
      <Icon name="search" size={16} />
      <span className={classes.label}>{t('search')}</span>
      <Kbd size="xs" visibleFrom="sm">
        Ctrl K
      </Kbd>
    </UnstyledButton>
  )
}

export function PageSearch() {
  const t = useMessages(messages)
  const [query, setQuery] = useState('')
  const actions = useActions(query.trim())
  return (
    <Spotlight
      actions={actions}
      query={query}
      onQueryChange={setQuery}
      nothingFound={t('searchEmpty')}
      highlightQuery
      shortcut="mod + K"
      scrollable
      maxHeight={420}
      overlayProps={{ backgroundOpacity: 0.3, blur: 0 }}
      transitionProps={{ duration: 80 }}
      searchProps={{
        placeholder: t('searchHint'),
        'aria-label': t('search'),
        onKeyDown: openFirstFound,
      }}
    />
  )
}

/**
 * Opens the first match on Enter if no item is marked, which happens when someone types while the
 * list is still opening. The library handles a marked item.
 */
function openFirstFound({ code, currentTarget }: KeyboardEvent<HTMLInputElement>): void {
  if (code !== 'Enter' || currentTarget.value === '') return
  const dialog = currentTarget.closest('[role="dialog"]')
  if (dialog?.querySelector('[data-selected]')) return
  dialog?.querySelector<HTMLElement>('[data-action]')?.click()
}

function useActions(query: string) {
  const t = useMessages(messages)
  const goTo = useGoTo()
  const { session } = useSession()
  const { operator: isOperator } = session.user
  const byPath = new Map(PAGES.map((page) => [page.path, page]))
  const describe = ({ area, label, icon }: PageEntry) => ({
    label: t(label),
    leftSection: <Icon name={icon} />,
    rightSection: (
      <Text size="xs" c="dimmed" component="span">
        {t(area === 'customer' ? 'customerArea' : 'operatorArea')}
      </Text>
    ),
  })
  const found = placesOfId(query, isOperator).flatMap(({ path, parameters }) => {
    const page = byPath.get(path)
    if (!page) return []
    const action = { ...describe(page), id: `${path} id`, description: query, keywords: [query] }
    const search = Object.fromEntries(parameters.map((name) => [name, query]))
    return [{ ...action, onClick: () => goTo(path, search) }]
  })
  const pages = PAGES.filter(({ area }) => area === 'customer' || isOperator).map((page) => ({
    ...describe(page),
    id: page.path,
    // The English name finds a page in every language.
    keywords: [page.path, messages.en[page.label]],
    onClick: () => goTo(page.path),
  }))
  return [...found, ...pages]
}
