/** Shown in place of a page that does not exist or failed. */
import { Center, Loader } from '@mantine/core'
import { ButtonLink } from '../components/links.tsx'
import { EmptyState } from '../components/list/empty-state.tsx'
import { ErrorState } from '../components/state/error-state.tsx'
import { useMessages } from '../lib/i18n.tsx'
import { messages } from './messages.ts'

export function NotFound() {
  const t = useMessages(messages)
  return (
    <Center mih="60vh">
      <EmptyState
        icon="search"
        title={t('notFoundTitle')}
        action={
          <ButtonLink to="/" variant="default">
            {t('home')}
          </ButtonLink>
        }
      >
        {t('notFoundText')}
      </EmptyState>
    </Center>
  )
}

/** Shown while a page's files load for longer than a moment. */
export function PagePending() {
  return (
    <Center mih="60vh">
      <Loader size="sm" />
    </Center>
  )
}

/** Loads the page again: with the answers it has, it would fail again. */
export function PageCrash() {
  const t = useMessages(messages)
  return (
    <Center mih="60vh">
      <ErrorState
        title={t('crashed')}
        error={new Error(t('crashedText'))}
        onRetry={() => location.reload()}
      />
    </Center>
  )
}
