/** The videos of an account and their copies. */
import { Button, Center, Skeleton } from '@mantine/core'
import { ButtonLink } from '../../components/links.tsx'
import { FilteredEmpty } from '../../components/list/filtered-empty.tsx'
import { Filters, SelectFilter } from '../../components/list/filters.tsx'
import { InOrder } from '../../components/page/in-order.tsx'
import { PageHeader } from '../../components/page/page-header.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useUrlState } from '../../lib/url-state.ts'
import { useAdminPages } from '../../lib/use-admin.ts'
import { AssetCard } from './asset-card.tsx'
import { AssetDrawer } from './asset-drawer.tsx'
import { FilesTable } from './files.tsx'
import { messages } from './messages.ts'
import classes from './page.module.css'
import { pairAssets } from './pair-assets.ts'

const ASSETS = 'GET /accounts/:account_id/assets'
const KINDS = ['erased', 'last_frame'] as const
/** Interval while a copy is in progress: no event signals its end. */
const COPY_POLL_INTERVAL_MS = 10_000

export function Page() {
  const t = useMessages(messages)
  const account = useAccount()
  const url = useUrlState(['kind', 'id'])
  const { kind, id } = url.values
  const pages = useAdminPages(
    ASSETS,
    { params: { account_id: account.id }, query: asQuery(ASSETS, { kind }) },
    { live: ['tasks'], refetchEveryMs: COPY_POLL_INTERVAL_MS },
  )
  const pairs = pairAssets(pages.rows)
  return (
    <>
      <PageHeader title={t('title')} description={t('description')} />
      <Filters>
        <SelectFilter
          label={t('allKinds')}
          value={kind}
          options={KINDS.map((value) => ({ value, label: t(value) }))}
          onChange={(value) => url.set({ kind: value })}
        />
      </Filters>
      <InOrder gap={0}>
        {pages.error ? <ErrorState error={pages.error} onRetry={pages.retry} /> : null}
        {!pages.isPending && !pages.error && pairs.length === 0 ? (
          <NoAssets kind={kind} onClear={() => url.set({ kind: '' })} />
        ) : null}
        <ul className={classes.grid} aria-label={t('title')} aria-busy={pages.isPending}>
          {pages.isPending ? <PlaceholderCards /> : null}
          {pairs.map((pair) => (
            <AssetCard
              key={pair.asset.id}
              pair={pair}
              onOpen={() => url.push({ id: pair.asset.id })}
            />
          ))}
        </ul>
        {pages.hasMore ? (
          <Center mt="md">
            <Button variant="default" loading={pages.isLoadingMore} onClick={pages.loadMore}>
              {t('loadMore')}
            </Button>
          </Center>
        ) : null}
        <FilesTable />
      </InOrder>
      <AssetDrawer id={id} all={pages.rows} onClose={() => url.set({ id: '' })} />
    </>
  )
}

interface NoAssetsProps {
  readonly kind: string
  readonly onClear: () => void
}

function NoAssets({ kind, onClear }: NoAssetsProps) {
  const t = useMessages(messages)
  return (
    <Panel>
      <FilteredEmpty
        icon="folder"
        isFiltered={kind !== ''}
        onClear={onClear}
        title={t('emptyTitle')}
        action={<ButtonLink to="/playground">{t('toPlayground')}</ButtonLink>}
      >
        {t('emptyText')}
      </FilteredEmpty>
    </Panel>
  )
}

const EXPECTED = [1, 2, 3, 4] as const

function PlaceholderCards() {
  return EXPECTED.map((place) => (
    <li key={place} className={classes.card} aria-hidden>
      <Skeleton className={classes.expected} />
    </li>
  ))
}
