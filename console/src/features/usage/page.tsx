/** The usage records of an account. */
import { Button } from '@mantine/core'
import { Icon } from '../../components/icon.tsx'
import { ButtonLink } from '../../components/links.tsx'
import { DetailDrawer } from '../../components/list/detail-drawer.tsx'
import { ListPage } from '../../components/list/list-page.tsx'
import { adminUrl } from '../../lib/api.ts'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useListState } from '../../lib/list-state.ts'
import { useAccount } from '../../lib/session.tsx'
import { useAdminPages } from '../../lib/use-admin.ts'
import { useCallColumns } from './columns.tsx'
import { CallExplanation } from './explanation.tsx'
import { FILTERS, UsageFilters } from './filters.tsx'
import { messages } from './messages.ts'

const LIST = 'GET /accounts/:account_id/usage'
const EXPORT = 'GET /accounts/:account_id/usage/export'

export function Page() {
  const t = useMessages(messages)
  const { id: accountId } = useAccount()
  const list = useListState(FILTERS)
  const { filters, openId } = list
  const params = { account_id: accountId }
  const query = asQuery(LIST, filters)
  const pages = useAdminPages(LIST, { params, query }, { live: ['usage'], keepPrevious: true })
  const csv = (
    <Button
      component="a"
      variant="default"
      leftSection={<Icon name="download" size={16} />}
      href={adminUrl(EXPORT, { params, query: asQuery(EXPORT, filters) })}
      download="usage.csv"
    >
      {t('export')}
    </Button>
  )
  return (
    <ListPage
      title={t('title')}
      description={t('description')}
      actions={csv}
      filters={<UsageFilters list={list} />}
      list={list}
      pages={pages}
      columns={useCallColumns()}
      rowId={(row) => row.request_id}
      empty={{
        icon: 'chart',
        title: t('emptyTitle'),
        text: t('emptyText'),
        action: <ButtonLink to="/keys">{t('createKey')}</ButtonLink>,
      }}
    >
      <DetailDrawer isOpen={openId !== ''} title={t('arithmetic')} onClose={list.close}>
        {openId === '' ? null : <CallExplanation accountId={accountId} requestId={openId} />}
      </DetailDrawer>
    </ListPage>
  )
}
