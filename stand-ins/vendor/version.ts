// The two API versions in use. Old client majors send the first, new majors the second; they
// differ in what is refused, so the header has to arrive exactly as the client wrote it.
import { invalid } from './errors.ts'

export const apiVersions = ['2023-06-01', '2026-10-21'] as const
export type ApiVersion = (typeof apiVersions)[number]

/** The version of a request; missing or unknown is a 400. */
export function readVersion(header: string | string[] | undefined): ApiVersion {
  if (header === undefined || header === '') throw invalid('anthropic-version: header is required')
  const version = apiVersions.find((known) => known === header)
  if (version === undefined) {
    throw invalid(`anthropic-version: "${header}" is not a valid version`)
  }
  return version
}
