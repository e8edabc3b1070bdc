/** Search results as cards: title, site, time and text. */
import { Anchor, Stack, Text, VisuallyHidden } from '@mantine/core'
import { CodeSnippet } from '../../../components/text/code-snippet.tsx'
import { useMessages } from '../../../lib/i18n.tsx'
import type { ResultProps } from '../frame/capability.ts'
import { Disclosure } from '../frame/fields/disclosure.tsx'
import { messages } from './messages.ts'
import type { SearchHit, SearchResult } from './read-results.ts'
import classes from './results.module.css'
import type { SearchValues } from './values.ts'

export function Results({ result }: ResultProps<SearchValues, SearchResult>) {
  const t = useMessages(messages)
  if (!result) return null
  const { found, document } = result
  return (
    <Stack gap="sm">
      <Text size="xs" c="dimmed">
        {found.length > 0 ? t('found', { count: found.length }) : t('none')}
      </Text>
      <ol className={classes.list}>
        {found.map((one, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a result is its rank
          <li key={index} className={classes.card}>
            <Card found={one} />
          </li>
        ))}
      </ol>
      <Disclosure label={t('answer')}>
        <CodeSnippet code={JSON.stringify(document, null, 2)} />
      </Disclosure>
    </Stack>
  )
}

function Card({ found }: { readonly found: SearchHit }) {
  const t = useMessages(messages)
  const { title, url, site, text, published } = found
  return (
    <>
      <Text size="xs" c="dimmed">
        {[site, published].filter(Boolean).join(' · ')}
      </Text>
      {url ? (
        <Anchor href={url} target="_blank" rel="noreferrer" fw={600} size="sm">
          {title}
          <VisuallyHidden> ({t('opensInNewTab')})</VisuallyHidden>
        </Anchor>
      ) : (
        <Text fw={600} size="sm">
          {title}
        </Text>
      )}
      {text ? (
        <Text size="sm" lineClamp={4} mt={2}>
          {text}
        </Text>
      ) : null}
    </>
  )
}
