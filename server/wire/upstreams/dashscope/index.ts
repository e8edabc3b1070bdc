/** Videos and images of Alibaba's model platform, in its native protocol. */
import { defineUpstream } from '../upstream.ts'
import { dashscopeImage, dashscopeImageRules, judgeDashscopeImage } from './image.ts'
import { dashscopeSettings } from './settings.ts'
import { dashscopeVideo, probeTasks } from './video.ts'

export const dashscope = defineUpstream({
  name: 'dashscope',
  settings: dashscopeSettings,
  secrets: ['api_key'],
  probe: probeTasks,
  calls: { image: dashscopeImage },
  images: dashscopeImageRules,
  judges: { image: judgeDashscopeImage },
  tasks: { video: dashscopeVideo },
})
