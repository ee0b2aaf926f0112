// The version of the vendor's API. The specification accepts any value from a client, while the
// upstream refuses a version that it does not know, and an older one has fields that a newer one
// refuses.
import type { MessageRequest } from '../wire/draft.ts'
import type { GatewaySettings } from './modules.ts'

/** The first version under which the upstream refuses `temperature`, whatever its value. */
const TEMPERATURE_REFUSED_SINCE = '2026-10-21'

/** The version that the client names in any of three headers, if the upstream knows it. */
export function versionOf(
  headers: Readonly<Record<string, string | undefined>>,
  { slug, versions }: Pick<GatewaySettings, 'slug' | 'versions'>,
): string {
  const isKnown = (version: string | undefined) =>
    version !== undefined && versions.includes(version)
  const given = headers['anthropic-version']
  if (isKnown(given)) return given as string
  const named = [headers[`${slug}-version`], headers['vendor-version']].find(isKnown)
  return named ?? versions[0]
}

/** Versions are dates, so that their texts are in the order of time. */
export function isTemperatureRemoved(
  version: string,
  { temperatureAt }: Pick<MessageRequest, 'temperatureAt'>,
): boolean {
  return temperatureAt !== undefined && version >= TEMPERATURE_REFUSED_SINCE
}
