/** The keys of an account. */
import { PageHeader } from '../../components/page-header.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'

export function Page() {
  const t = useMessages(messages)
  return <PageHeader title={t('title')} description={t('description')} />
}
