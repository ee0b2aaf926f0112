<?php
// One call with PHP's curl, plain or streaming as the body asks; prints what a program would see.
$body = getenv('GATEWAY_BODY');
$isStream = json_decode($body)->stream;
$text = '';
$last = null;
$buffer = '';

$curl = curl_init(getenv('GATEWAY_URL') . '/v1/messages');
curl_setopt_array($curl, [
    CURLOPT_POST => true,
    CURLOPT_POSTFIELDS => $body,
    CURLOPT_HTTPHEADER => ['x-api-key: ' . getenv('GATEWAY_KEY'), 'content-type: application/json'],
    CURLOPT_TIMEOUT => 20,
    CURLOPT_WRITEFUNCTION => function ($curl, $piece) use (&$buffer, &$text, &$last, $isStream) {
        $buffer .= $piece;
        while ($isStream && ($end = strpos($buffer, "\n\n")) !== false) {
            $record = substr($buffer, 0, $end);
            $buffer = substr($buffer, $end + 2);
            if (!preg_match('/^data: (.*)$/m', $record, $found)) continue;
            $event = json_decode($found[1]);
            $last = $event->type;
            if ($last === 'content_block_delta') $text .= $event->delta->text;
        }
        return strlen($piece);
    },
]);
curl_exec($curl);
$status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
if (!$isStream) {
    foreach (json_decode($buffer)->content as $block) $text .= $block->text;
}
echo json_encode(['status' => $status, 'text' => $text, 'last' => $last]);
