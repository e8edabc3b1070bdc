/** The images of an account as a grid; each opens large, with its prompt and cost. */

import { Button, Center, Group, Image, Skeleton, Text, UnstyledButton } from '@mantine/core'
import { ButtonLink } from '../../components/links.tsx'
import { FilteredEmpty } from '../../components/list/filtered-empty.tsx'
import { Filters, TextFilter } from '../../components/list/filters.tsx'
import { PageHeader } from '../../components/page/page-header.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useUrlState } from '../../lib/url-state.ts'
import { useAdminPages } from '../../lib/use-admin.ts'
import { Lightbox } from './lightbox.tsx'
import { messages } from './messages.ts'
import classes from './page.module.css'
import { GALLERY, type Picture } from './picture.ts'

/** Interval while a copy is in progress: no event signals its end. */
const COPY_POLL_INTERVAL_MS = 10_000

export function Page() {
  const t = useMessages(messages)
  const account = useAccount()
  const url = useUrlState(['model', 'id'])
  const { model, id } = url.values
  const pages = useAdminPages(
    GALLERY,
    { params: { account_id: account.id }, query: asQuery(GALLERY, { model }) },
    { live: ['usage', 'tasks'], refetchEveryMs: COPY_POLL_INTERVAL_MS },
  )
  const isEmpty = !pages.isPending && !pages.error && pages.rows.length === 0
  return (
    <>
      <PageHeader title={t('title')} description={t('description')} />
      <Filters>
        <TextFilter
          label={t('model')}
          value={model}
          onChange={(value) => url.set({ model: value })}
        />
      </Filters>
      {pages.error ? <ErrorState error={pages.error} onRetry={pages.retry} /> : null}
      {isEmpty ? (
        <Panel>
          <FilteredEmpty
            icon="image"
            isFiltered={model !== ''}
            onClear={() => url.set({ model: '' })}
            title={t('emptyTitle')}
            action={<ButtonLink to="/playground">{t('toPlayground')}</ButtonLink>}
          >
            {t('emptyText')}
          </FilteredEmpty>
        </Panel>
      ) : null}
      <ul className={classes.grid} aria-label={t('title')} aria-busy={pages.isPending}>
        {pages.isPending ? <PlaceholderTiles /> : null}
        {pages.rows.map((picture) => (
          <Tile key={picture.id} picture={picture} onOpen={() => url.push({ id: picture.id })} />
        ))}
      </ul>
      {pages.hasMore ? (
        <Group justify="center" mt="md">
          <Button variant="default" loading={pages.isLoadingMore} onClick={pages.loadMore}>
            {t('loadMore')}
          </Button>
        </Group>
      ) : null}
      <Lightbox
        pictures={pages.rows}
        id={id}
        onTurn={(to) => url.set({ id: to })}
        onClose={() => url.set({ id: '' })}
      />
    </>
  )
}

interface TileProps {
  readonly picture: Picture
  readonly onOpen: () => void
}

function Tile({ picture, onOpen }: TileProps) {
  const t = useMessages(messages)
  const prompt = picture.prompt ?? t('noPrompt')
  const isStored = picture.copy.state === 'stored' && picture.url
  return (
    <li className={classes.tile}>
      <UnstyledButton
        className={classes.opener}
        onClick={onOpen}
        aria-label={t('open', { prompt })}
      >
        {isStored ? (
          <Image src={picture.url} alt="" className={classes.picture} loading="lazy" />
        ) : (
          <Center className={classes.picture}>
            <Text size="xs" c="dimmed">
              {t('copying')}
            </Text>
          </Center>
        )}
        <Text size="xs" truncate px={8} pt={6}>
          {prompt}
        </Text>
      </UnstyledButton>
      <Text size="xs" c="dimmed" truncate px={8} pb={6}>
        {picture.model}
      </Text>
    </li>
  )
}

const EXPECTED = [1, 2, 3, 4, 5, 6] as const

function PlaceholderTiles() {
  return EXPECTED.map((place) => (
    <li key={place} aria-hidden>
      <Skeleton className={classes.picture} radius={8} />
    </li>
  ))
}
