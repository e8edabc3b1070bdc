/** The videos of an account and what was made of them. */
import { DataTable } from '../../components/data-table.tsx'
import { FilteredEmpty } from '../../components/filtered-empty.tsx'
import { Filters, SelectFilter } from '../../components/filters.tsx'
import { ButtonLink } from '../../components/links.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useUrlState } from '../../lib/url-state.ts'
import { type RowOf, useAdminPages } from '../../lib/use-admin.ts'
import { AssetDrawer } from './asset-drawer.tsx'
import { Files } from './files.tsx'
import { messages } from './messages.ts'

const ASSETS = 'GET /accounts/:account_id/assets'
export type Asset = RowOf<typeof ASSETS>
const KINDS = ['video', 'last_frame', 'erased'] as const
/** A copy that is being made tells nobody when it is there. */
const COPY_LOOK_MS = 10_000

export function Page() {
  const t = useMessages(messages)
  const account = useAccount()
  const url = useUrlState(['kind', 'id'])
  const { kind, id } = url.values
  const pages = useAdminPages(
    ASSETS,
    { params: { account_id: account.id }, query: asQuery(ASSETS, { kind }) },
    { live: ['tasks'], refetchEveryMs: COPY_LOOK_MS },
  )
  return (
    <>
      <PageHeader title={t('title')} description={t('description')} />
      <Filters>
        <SelectFilter
          label={t('kind')}
          value={kind}
          options={KINDS.map((value) => ({ value, label: t(value) }))}
          onChange={(value) => url.set({ kind: value })}
        />
      </Filters>
      <DataTable
        label={t('title')}
        pages={pages}
        columns={[
          {
            key: 'created',
            header: t('created'),
            render: (row) => <TimeText time={row.created_at} />,
          },
          {
            key: 'kind',
            header: t('kind'),
            render: (row) => (row.kind === 'image' ? '–' : t(row.kind)),
          },
          { key: 'model', header: t('model'), render: (row) => row.model, minor: true },
          {
            key: 'erase',
            header: t('erase'),
            render: (row) => <EraseUntil until={row.erase_until} />,
          },
        ]}
        rowId={(asset) => asset.id}
        onOpen={(asset) => url.push({ id: asset.id })}
        openId={id}
        empty={
          <FilteredEmpty
            icon="folder"
            isFiltered={kind !== ''}
            onClear={() => url.set({ kind: '' })}
            title={t('emptyTitle')}
            action={<ButtonLink to="/playground">{t('toPlayground')}</ButtonLink>}
          >
            {t('emptyText')}
          </FilteredEmpty>
        }
      />
      <Files />
      <AssetDrawer id={id} onClose={() => url.set({ id: '' })} />
    </>
  )
}

/** Subtitles can be erased of videos that are less than 23 hours old. */
function EraseUntil({ until }: { readonly until: string | undefined }) {
  const t = useMessages(messages)
  if (!until) return <span>–</span>
  if (Date.parse(until) < Date.now()) return <span>{t('over')}</span>
  return (
    <span>
      {t('until')} <TimeText time={until} form="relative" />
    </span>
  )
}
