-- Records hold the names of assets in place of their addresses, which change with the public URL.
--
-- Servers of the schema before may run beside newer ones, but show a name where an address belongs.
-- Newer servers recognise the addresses that older ones still write, by the public URLs in
-- `setting`: one row, `public-url URL`, for each that the deployment has had.

-- The name at the end of an address, if a public URL of this deployment is before it. An address
-- of another deployment has the same form and stays.
CREATE FUNCTION asset_form() RETURNS text LANGUAGE sql IMMUTABLE
    RETURN '/assets/([0-9a-v]{25}[048cgkos]\.(png|jpg|webp|gif|mp4|webm))$';
CREATE FUNCTION asset_or_url(url text) RETURNS text LANGUAGE sql STABLE
    RETURN CASE WHEN EXISTS (SELECT FROM setting
            WHERE name = 'public-url ' || regexp_replace(url, asset_form(), ''))
        AND url ~ asset_form() THEN substring(url FROM asset_form()) ELSE url END;

-- Only the service writes `images`, so what is before the names there are its public URLs.
INSERT INTO setting (name, value)
    SELECT DISTINCT 'public-url ' || regexp_replace(image ->> 'url', asset_form(), ''), ''::bytea
    FROM prompt CROSS JOIN jsonb_array_elements(images) image
    WHERE image ->> 'url' ~ ('^https?://.*' || asset_form());

-- A file that the blob store must have; the next start replaces it by the mark of the store.
INSERT INTO setting (name, value)
    SELECT 'blob-store', convert_to(substring(images -> -1 ->> 'url' FROM asset_form()), 'UTF8')
    FROM prompt WHERE images -> -1 ->> 'url' ~ asset_form() ORDER BY id DESC LIMIT 1;

UPDATE prompt SET images = (
        SELECT jsonb_agg(jsonb_set(image, '{url}', to_jsonb(asset_or_url(image ->> 'url'))) ORDER BY at)
        FROM jsonb_array_elements(images) WITH ORDINALITY AS one (image, at))
    WHERE images <> '[]';
UPDATE prompt SET image_url = asset_or_url(image_url) WHERE image_url ~ asset_form();
UPDATE prompt SET reference_media_urls = ARRAY(
        SELECT asset_or_url(url) FROM unnest(reference_media_urls) WITH ORDINALITY AS one (url, at)
        ORDER BY at)
    WHERE array_to_string(reference_media_urls, ' ') LIKE '%/assets/%';
UPDATE vault SET cover_image_url = asset_or_url(cover_image_url) WHERE cover_image_url ~ asset_form();

-- The text of a request stays as it is but for its addresses: its digest tells a repeated request
-- from another one, and jsonb would change numbers. The program writes these fields one after the
-- other; in `parameters`, whose keys are sorted, they cannot follow each other like this.
CREATE FUNCTION asset_names(urls json) RETURNS text LANGUAGE sql STABLE
    RETURN coalesce(CASE json_typeof(urls)
        WHEN 'array' THEN (SELECT '[' || coalesce(string_agg(CASE asset_or_url(url #>> '{}')
                    WHEN url #>> '{}' THEN url::text
                    ELSE to_json(asset_or_url(url #>> '{}'))::text END, ',' ORDER BY at), '') || ']'
            FROM json_array_elements(urls) WITH ORDINALITY AS one (url, at))
        WHEN 'string' THEN CASE asset_or_url(urls #>> '{}') WHEN urls #>> '{}' THEN urls::text
            ELSE to_json(asset_or_url(urls #>> '{}'))::text END
        ELSE urls::text END, 'null');
CREATE FUNCTION with_names(request json) RETURNS text LANGUAGE sql STABLE
    RETURN replace(replace(request::text,
        concat('"imageInput":', request -> 'imageInput', ',"imageInputs":', request -> 'imageInputs',
            ',"aspectRatio":'),
        concat('"imageInput":', asset_names(request -> 'imageInput'), ',"imageInputs":',
            asset_names(request -> 'imageInputs'), ',"aspectRatio":')),
        concat('"referenceImageUrls":', request -> 'referenceImageUrls', ',"imageEditEndpointId":'),
        concat('"referenceImageUrls":', asset_names(request -> 'referenceImageUrls'),
            ',"imageEditEndpointId":'));
CREATE FUNCTION digest_of(request text, vault text) RETURNS bytea LANGUAGE sql STABLE
    RETURN sha256(convert_to(concat('[', request, ',', vault, ']'), 'UTF8'));
UPDATE job SET job_order = with_names(job_order)::json, request_digest = CASE request_digest
        WHEN digest_of(job_order::text, 'null') THEN digest_of(with_names(job_order), 'null')
        WHEN digest_of(job_order::text, vault_id::text)
            THEN digest_of(with_names(job_order), vault_id::text)
        ELSE request_digest END
    WHERE with_names(job_order) <> job_order::text;

DROP FUNCTION digest_of(text, text), with_names(json), asset_names(json), asset_or_url(text),
    asset_form();
