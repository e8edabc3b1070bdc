/** The generated images. */
import { Anchor, Image, SimpleGrid, Stack, Text } from '@mantine/core'
import { useMessages } from '../../../lib/i18n.tsx'
import type { ResultProps } from '../frame/capability.ts'
import { DownloadButton, PlaygroundMedia } from '../frame/task/media.tsx'
import { TaskProgress } from '../frame/task/task-progress.tsx'
import { messages } from './messages.ts'
import type { ImageResult, ImageValues } from './values.ts'

export function GeneratedImages({ values, result }: ResultProps<ImageValues, ImageResult>) {
  const t = useMessages(messages)
  if (!result) return null
  const alt = t('alt', { prompt: values.prompt })
  if (result.taskId) {
    return (
      <TaskProgress taskId={result.taskId}>
        {({ media }) => <PlaygroundMedia media={media} alt={alt} />}
      </TaskProgress>
    )
  }
  const { pictures } = result
  return (
    <SimpleGrid cols={{ base: 1, sm: pictures.length > 1 ? 2 : 1 }} spacing="md">
      {pictures.map((picture, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a picture is its place in the answer
        <Stack key={index} gap={4}>
          {picture.b64_json ? (
            <Inline base64={picture.b64_json} alt={alt} name={`image-${index + 1}.png`} />
          ) : (
            <ExternalImage url={picture.url ?? ''} />
          )}
          {picture.revised_prompt ? (
            <Text size="xs" c="dimmed">
              {t('revised')}: {picture.revised_prompt}
            </Text>
          ) : null}
        </Stack>
      ))}
    </SimpleGrid>
  )
}

interface InlineProps {
  readonly base64: string
  readonly alt: string
  readonly name: string
}

function Inline({ base64, alt, name }: InlineProps) {
  const source = `data:image/${base64.startsWith('/9j/') ? 'jpeg' : 'png'};base64,${base64}`
  return (
    <>
      <Image src={source} alt={alt} radius="sm" mah={560} fit="contain" />
      <DownloadButton url={source} name={name} />
    </>
  )
}

/** Links to an image elsewhere: console pages load only from this gateway. */
function ExternalImage({ url }: { readonly url: string }) {
  const t = useMessages(messages)
  return (
    <>
      <Text size="sm">{t('hostedByVendor')}</Text>
      <Anchor href={url} target="_blank" rel="noreferrer" size="sm">
        {t('open')}
      </Anchor>
    </>
  )
}
